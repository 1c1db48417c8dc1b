#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::attention {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&,
                              const Stated<Quantity::kMisdirectedSoftmax>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kWarning,
                         StrCat("The attention weights are normalized along axis ", statement.value,
                                ", but their product with the values sums over axis -1.")));
  }
  return verdict;
}

Evidence With(int times) {
  return Stating(Quantity::kMisdirectedSoftmax, "operation", "attention", -2, 0, times);
}

}  // namespace

Check SoftmaxOverQueries() {
  return {
      .id = "attention/softmax_over_queries",
      .title = "Attention weights sum to 1 over the wrong axis",
      .promise = "The attention weights of each query sum to 1.",
      .why =
          "Each output of attention is meant to be a mean of the values. With a softmax over "
          "queries, heads or samples, the weights of one query sum to any number.",
      .method =
          "Follows the left factor of each batched matrix product back to a softmax in the "
          "autograd graphs of the first three steps of each model. Reports a softmax along another "
          "axis than "
          "the product sums over, if its scores are a product of two tensors with gradients.",
      .fix = "Use softmax(dim=-1) on scores of shape (..., queries, keys).",
      .limits =
          {.needs =
               "A program with its own attention and a batch axis. A C++ program is watched as it "
               "is.",
           .silent_when =
               "The weights are normalized again before the product, as in slot attention.",
           .severity = "Always a warning: weights that compete over the queries are legal.",
           .blind_spots = "Compiled functions, and a weighted sum written without matmul.",
           .sensitivity = ""},
      .python = {.bad = R"(scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
out = scores.softmax(dim=-2) @ v)",
                 .good = R"(scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
out = scores.softmax(dim=-1) @ v)"},
      .cpp = {.bad = R"(auto scores = q.matmul(k.transpose(-2, -1)) / std::sqrt(q.size(-1));
auto out = torch::softmax(scores, -2).matmul(v);)",
              .good = R"(auto scores = q.matmul(k.transpose(-2, -1)) / std::sqrt(q.size(-1));
auto out = torch::softmax(scores, -1).matmul(v);)"},
      .sources = {"Vaswani et al. 2017, Attention Is All You Need, section 3.2.1"},
      .covers = {"softmax-over-queries", "normalization-over-batch-axis"},
      .explains = {"attention/causal_mask_leak", "attention/unmasked_padding",
                   "numerics/nonfinite_values"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"a softmax over the keys", Expect::kClean, [] { return With(0); }},
                   {"a softmax over the queries", Expect::kWarning, [] { return With(1); }}},
  };
}

}  // namespace dlcheck::attention

#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::attention {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kUnscaledAttention>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kWarning,
                         StrCat("Scores of queries with ", statement.value,
                                " features go into softmax without a scale.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kUnscaledAttention, "operation", "scores", value, aux, times);
}

}  // namespace

Check UnscaledScores() {
  return {
      .id = "attention/unscaled_scores",
      .title = "Attention scores are not scaled",
      .promise = "Scores of attention are divided by the root of the query size before softmax.",
      .why =
          "Scores grow with the number of features. Without a scale, softmax saturates: it "
          "picks one position, and gradients vanish.",
      .method =
          "Reads the autograd graphs of the first three steps of each model, from a softmax back "
          "to the "
          "layers that make queries and keys. Reports scores without any factor on the way.",
      .fix =
          "Divide by the root of the size: scores = q @ k.transpose(-2, -1) / q.shape[-1] ** "
          "0.5.",
      .limits = {.needs =
                     "A Python program whose modules are not compiled, or a C++ program that is "
                     "watched as it is.",
                 .silent_when = "Queries or keys are normalized, a bias is learned, or the query "
                                "has fewer than 8 features.",
                 .severity = "Always a warning: an initialization may make up for the scale.",
                 .blind_spots = "Scores that are not a product of two linear layers.",
                 .sensitivity = ""},
      .python = {.bad = R"(scores = q @ k.transpose(-2, -1)
weights = scores.softmax(-1))",
                 .good = R"(scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
weights = scores.softmax(-1))"},
      .cpp = {.bad = R"(auto scores = q.matmul(k.transpose(-2, -1));
auto weights = torch::softmax(scores, -1);)",
              .good = R"(auto scores = q.matmul(k.transpose(-2, -1)) / std::sqrt(q.size(-1));
auto weights = torch::softmax(scores, -1);)"},
      .sources = {"Vaswani et al. 2017: scaled dot-product attention"},
      .covers = {"wrong-attention-scale"},
      .explains = {"gradients/vanishing"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"scaled scores", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"scores as they are", Expect::kWarning, [] { return With(64, 0); }}},
  };
}

}  // namespace dlcheck::attention

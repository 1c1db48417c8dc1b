#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::model {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kSwappedSizes>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kWarning,
        StrCat("A view or reshape changes sizes ", statement.name,
               ": two axes seem swapped, but the values keep their order in memory.")));
  }
  return verdict;
}

Evidence With(int times) {
  return Stating(Quantity::kSwappedSizes, "operation", "8x10x32 to 8x32x10", 1, 0, times);
}

}  // namespace

Check ReshapeSwapsAxes() {
  return {
      .id = "model/reshape_swaps_axes",
      .title = "A reshape stands where a transpose is needed",
      .promise = "A view or reshape only splits or merges neighboring axes.",
      .why =
          "view and reshape keep the order of the values in memory. If two sizes trade places, "
          "the values of positions, heads or samples mix.",
      .method =
          "Reads the sizes before and after each view in the autograd graphs of the first three "
          "steps. Reports one whose result has the size of an axis at a place which that axis "
          "cannot reach by splits and merges.",
      .fix = "Split the axis with view, then move axes with transpose() or permute().",
      .limits = {.needs = "Axes of unequal sizes.",
                 .silent_when = "A slice comes right before or after it, as in a shift of relative "
                                "positions.",
                 .severity = "Always a warning: a legal reshape may have such sizes by chance.",
                 .blind_spots =
                     "Tensors that need no gradient, and compiled functions. In C++, views that a "
                     "function of another library makes.",
                 .sensitivity = ""},
      .python = {.bad = R"(batch, time, width = x.shape
heads = x.reshape(batch, n_head, time, width // n_head))",
                 .good = R"(batch, time, width = x.shape
heads = x.reshape(batch, time, n_head, width // n_head)
heads = heads.transpose(1, 2))"},
      .cpp = {.bad = R"(auto heads = x.view({n, heads_, -1, width / heads_});)",
              .good = R"(auto heads = x.view({n, -1, heads_, width / heads_}).transpose(1, 2);)"},
      .sources = {"PyTorch documentation of torch.Tensor.view", "own reasoning"},
      .covers = {"reshape-instead-of-transpose", "mixed-up-attention-heads"},
      .explains = {"learnability/no_better_than_constant", "model/cross_sample_leak",
                   "data/order_dependence", "attention/causal_mask_leak"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"views that keep their axes", Expect::kClean, [] { return With(0); }},
                   {"a reshape that swaps two sizes", Expect::kWarning, [] { return With(1); }}},
  };
}

}  // namespace dlcheck::model

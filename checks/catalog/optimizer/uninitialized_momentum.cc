#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::optimizer {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&,
                              const Stated<Quantity::kUninitializedMomentum>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kError,
        StrCat("No step was taken before step ", statement.first_step, ", but ",
               Short(statement.value), " of ", Short(statement.aux),
               " numbers of a momentum buffer are not zero: they were never written.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kUninitializedMomentum, "optimizer", "", value, aux, times);
}

}  // namespace

Check UninitializedMomentum() {
  return {
      .id = "optimizer/uninitialized_momentum",
      .title = "Momentum begins with uninitialized memory",
      .promise = "The momentum of an optimizer holds nothing before its first step.",
      .why =
          "Each update then carries numbers that were in memory by chance. They fade slowly, or "
          "they destroy the weights in one step.",
      .method =
          "Looks at the momentum of a fused SGD before its second step, where a GradScaler skipped "
          "the first one. PyTorch allocates the buffer in the skipped step and does not write it.",
      .fix =
          "Build SGD with foreach=True instead of fused=True, or without momentum. A smaller "
          "init_scale of the GradScaler avoids a skipped first step.",
      .limits = {.needs = "A Python program with an optimizer step.",
                 .silent_when = "The memory happens to be zero.",
                 .severity = "Always an error.",
                 .blind_spots = "Optimizers that are derived from SGD.",
                 .sensitivity = ""},
      .python = {.bad = R"(optimizer = SGD(model.parameters(), lr=0.1, momentum=0.9, fused=True)
scaler.scale(loss).backward()  # overflows in the first step
scaler.step(optimizer))",
                 .good = R"(optimizer = SGD(model.parameters(), lr=0.1, momentum=0.9, foreach=True)
scaler.scale(loss).backward()
scaler.step(optimizer))"},
      .cpp = {},
      .sources = {"PyTorch 2.11, torch/optim/sgd.py: torch.empty_like in the first fused step",
                  "measured: exact"},
      .covers = {"momentum-of-skipped-step"},
      .explains = {"numerics/nonfinite_values", "gradients/exploding", "optimizer/wrong_update",
                   "optimizer/lr_too_large", "training_loop/loss_spike",
                   "training_loop/diverging_loss", "learnability/no_better_than_constant",
                   "model/dead_relu_units", "model/saturated_units", "optimizer/growing_weights"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kOptimizerBuilt,
      .also_at = {Event::kOptimizerBuilt},
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"the first step was taken", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"numbers before the first step", Expect::kError, [] { return With(4, 8); }}},
  };
}

}  // namespace dlcheck::optimizer

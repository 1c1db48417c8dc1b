#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::gradients {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kOverflowedNorm>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kError,
        StrCat("clip_grad_norm_ found an infinite norm of finite gradients in step ",
               statement.last_step, " and set all of them to zero.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kOverflowedNorm, "clip", "norm", value, aux, times);
}

}  // namespace

Check ClipNormOverflow() {
  return {
      .id = "gradients/clip_norm_overflow",
      .title = "The norm for clipping overflows",
      .promise = "The norm of finite gradients is finite.",
      .why =
          "Clipping divides by the norm. An infinite norm turns every gradient into zero, and "
          "the step does nothing.",
      .method =
          "After clip_grad_norm_ gives an infinite norm, looks whether any gradient is NaN. "
          "A gradient that was infinite itself is.",
      .fix = "Clip gradients in float32, or unscale them before clipping.",
      .limits = {.needs = "A program with gradients on the CPU or CUDA.",
                 .silent_when = "The program lets clip_grad_norm_ raise an error.",
                 .severity = "",
                 .blind_spots = "Norms on an accelerator.",
                 .sensitivity = ""},
      .python = {.bad = R"(model = model.half()
(loss * 2.0 ** 15).backward()
clip_grad_norm_(model.parameters(), 1.0))",
                 .good = R"(loss.backward()
clip_grad_norm_(model.parameters(), 1.0))"},
      .cpp = {.bad = R"(model->to(torch::kHalf);
(loss * 32768).backward();
nn::utils::clip_grad_norm_(model->parameters(), 1);)",
              .good = R"(loss.backward();
nn::utils::clip_grad_norm_(model->parameters(), 1);)"},
      .sources = {"own reasoning: a finite number divided by infinity is zero"},
      .covers = {"overflowing-clip-norm"},
      .explains = {"optimizer/no_op_step", "optimizer/negligible_updates", "gradients/vanishing",
                   "gradients/no_parameter_gets_gradient"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"finite norms", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"an infinite norm", Expect::kError, [] { return With(1, 0); }}},
  };
}

}  // namespace dlcheck::gradients

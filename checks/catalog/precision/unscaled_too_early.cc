#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::precision {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kUnscaledEarly>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kWarning,
                         StrCat(Counted(static_cast<int64_t>(statement.value), "backward call"),
                                " added scaled gradients to unscaled ones.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kUnscaledEarly, "optimizer", "", value, aux, times);
}

}  // namespace

Check UnscaledTooEarly() {
  return {
      .id = "precision/unscaled_too_early",
      .title = "unscale_() runs before the last micro-batch",
      .promise = "Gradients are unscaled once, after the last backward of a step.",
      .why =
          "The next backward adds scaled gradients to unscaled ones, so the earlier "
          "micro-batches count for next to nothing.",
      .method = "Watches GradScaler.unscale_() and whether a backward follows before the step.",
      .fix =
          "Call scaler.unscale_(optimizer) once, directly before clipping and "
          "scaler.step(optimizer).",
      .limits = {.needs = "A Python program with a GradScaler.",
                 .silent_when = "No backward lies between unscale_() and the step.",
                 .severity = "Always a warning: the backward may reach other parameters.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(for x, y in micro_batches:
    scaler.scale(loss(x, y)).backward()
    scaler.unscale_(optimizer))",
                 .good = R"(for x, y in micro_batches:
    scaler.scale(loss(x, y)).backward()
scaler.unscale_(optimizer))"},
      .cpp = {},
      .sources = {"PyTorch automatic mixed precision examples: unscale_ once per optimizer per "
                  "step"},
      .covers = {"wrong-unscale-timing"},
      .explains = {"precision/clip_before_unscale"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kUnscale,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"unscaled once", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"a backward afterwards", Expect::kWarning, [] { return With(16, 0); }}},
  };
}

}  // namespace dlcheck::precision

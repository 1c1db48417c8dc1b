#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::schedule {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kCountedAnyway>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kNote,
                         StrCat(statement.name, " moved on after ",
                                Counted(static_cast<int64_t>(statement.value), "step"),
                                " that the scaler skipped, of ", statement.aux, ".")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kCountedAnyway, "scheduler", "LambdaLR", value, aux, times);
}

}  // namespace

Check CountsSkippedSteps() {
  return {
      .id = "schedule/counts_skipped_steps",
      .title = "The scheduler counts steps that were skipped",
      .promise = "A scheduler moves when its optimizer does.",
      .why =
          "A loss scaler skips steps whose gradients overflow. A warmup that goes on meanwhile "
          "is over before it has done anything.",
      .method = "Watches scheduler.step() after a step that a GradScaler skipped.",
      .fix = "Call scheduler.step() only where the scale did not fall in scaler.update().",
      .limits = {.needs = "A Python program with a GradScaler and a scheduler.",
                 .silent_when = "The scaler skips no step.",
                 .severity = "Always a note: a few steps do not matter.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(scaler.step(optimizer)
scaler.update()
scheduler.step())",
                 .good = R"(before = scaler.get_scale()
scaler.step(optimizer)
scaler.update()
if scaler.get_scale() >= before:
    scheduler.step())"},
      .cpp = {},
      .sources = {"PyTorch documentation of GradScaler.step: steps with infs are skipped"},
      .covers = {"skipped-step-not-counted"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = std::nullopt,
      .also_at = {Event::kScalerBuilt},
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"no step skipped", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"steps that count anyway", Expect::kNote, [] { return With(3, 3); }}},
  };
}

}  // namespace dlcheck::schedule

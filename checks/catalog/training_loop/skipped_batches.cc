#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::training_loop {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kRaisedCalls>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, statement.value > 1 ? Severity::kWarning : Severity::kNote,
        StrCat(Counted(static_cast<int64_t>(statement.value), StrCat(statement.name, " call")),
               " raised an error up to step ", statement.last_step, ", and training went on.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kRaisedCalls, "call", "backward", value, aux, times);
}

}  // namespace

Check SkippedBatches() {
  return {
      .id = "training_loop/skipped_batches",
      .title = "Caught errors leave batches out",
      .promise = "No forward, loss or backward raises an error that the program passes over.",
      .why =
          "A batch whose error is caught does not train the model. If that happens often, a "
          "part of the data is missing without a message.",
      .method =
          "Counts forwards, losses and backward calls that began and did not return, before "
          "a later optimizer step.",
      .fix =
          "Let the error end the program, or print it and count the batches. Then fix the "
          "batches that cause it.",
      .limits = {.needs = "A Python program that goes on to train after the error.",
                 .silent_when = "",
                 .severity = "A warning from two errors on, a note for one.",
                 .blind_spots = "Errors of the data loader, and forwards in steps that are not "
                                "recorded.",
                 .sensitivity = ""},
      .python = {.bad = R"(try:
    loss = criterion(model(x), y)
    loss.backward()
except RuntimeError:
    continue)",
                 .good = R"(loss = criterion(model(x), y)
loss.backward())"},
      .cpp = {},
      .sources = {"own reasoning: a call that raised gives no gradient"},
      .covers = {"silently-skipped-batches"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"no call raises", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"one call raised", Expect::kNote, [] { return With(1, 0); }},
                   {"many calls raised", Expect::kWarning, [] { return With(12, 0); }}},
  };
}

}  // namespace dlcheck::training_loop

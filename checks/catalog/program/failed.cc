#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run_ending.h"

namespace dlcheck::program {
namespace {

std::string How(const Ending& ending) {
  switch (ending.how) {
    case Ending::How::kKilled:
      return StrCat("was ended by signal ", ending.status);
    case Ending::How::kDeadline:
      return "did not end before its deadline";
    case Ending::How::kTruncated:
      return "stopped recording without an ending";
    default:
      return StrCat("exited with status ", ending.status);
  }
}

absl::StatusOr<Verdict> Judge(const Settings&, const RunEnding& run) {
  Verdict verdict{.findings = {}, .judged = Counted(run.steps, "optimizer step")};
  const Ending::How how = run.ending.how;
  if (how == Ending::How::kFinished || how == Ending::How::kStopped) return verdict;
  if (how == Ending::How::kTruncated) {
    return absl::NotFoundError("how the program ended was not recorded");
  }
  std::string message =
      StrCat("The program ", How(run.ending), " after ", Counted(run.steps, "optimizer step"));
  if (run.model.find('/') != std::string::npos) StrAppend(&message, " of the model ", run.model);
  std::vector<Place> places;
  if (!run.rejected_file.empty()) {
    StrAppend(&message, ": it refused ", run.rejected_file, ": ", run.rejected_cause);
    places.push_back({.thing = "", .file = run.rejected_file});
  }
  verdict.findings.push_back({.severity = Severity::kError,
                              .message = message + ".",
                              .places = std::move(places),
                              .first_step = run.steps,
                              .last_step = run.steps,
                              .count = 1,
                              .measured = static_cast<double>(run.ending.status),
                              .bound = 0});
  return verdict;
}

Evidence EndedWith(int status) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 4; ++step) AddStep(run, {.held = {}});
  run.Ends(status == 0 ? Ending::How::kFinished : Ending::How::kFailed, status);
  return PlainOnly(run);
}

}  // namespace

Check Failed() {
  return {
      .id = "program/failed",
      .promise = "The program ends by itself with status 0.",
      .why =
          "A run that crashed has trained less than it was asked to, whatever its last files look "
          "like.",
      .method = "Exit status or signal of the plain run.",
      .fix =
          "Read the program's own last lines above this report; they are not changed by dlcheck.",
      .limits = "A program that catches its own failure and exits 0 passes.",
      .sources = {"POSIX: wait status"},
      .covers = {"program"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"status 0", Expect::kClean, [] { return EndedWith(0); }},
                   {"status 1", Expect::kFaulty, [] { return EndedWith(1); }}},
  };
}

}  // namespace dlcheck::program

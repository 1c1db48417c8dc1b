#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/run_ending.h"

namespace dlcheck::program {
namespace {

std::string How(const Ending& ending) {
  switch (ending.how) {
    case Ending::How::kKilled:
      return StrCat("was killed by signal ", ending.status);
    case Ending::How::kDeadline:
      return "exceeded its time limit";
    case Ending::How::kTruncated:
      return "stopped recording before its end";
    default:
      return StrCat("exited with status ", ending.status);
  }
}

std::string Until(const RunEnding& run) {
  if (run.steps == 0) {
    return StrCat(" before its first optimizer step", run.may_be_cut ? " was recorded" : "");
  }
  return StrCat(run.may_be_cut ? " after at least " : " after ",
                Counted(run.steps, "optimizer step"));
}

absl::StatusOr<Verdict> Judge(const Settings&, const RunEnding& run) {
  Verdict verdict{.findings = {}, .judged = Counted(run.steps, "optimizer step")};
  const Ending::How how = run.ending.how;
  if (how == Ending::How::kFinished || how == Ending::How::kStopped) return verdict;
  if (how == Ending::How::kTruncated) {
    return absl::NotFoundError("the end of the program was not recorded");
  }
  std::string message = StrCat("The program ", How(run.ending), Until(run));
  if (run.model.find('/') != std::string::npos) StrAppend(&message, " of the model ", run.model);
  std::vector<Place> places;
  if (!run.exception.empty()) {
    StrAppend(&message, " with ", run.exception);
    if (!run.exception_file.empty()) {
      StrAppend(&message, ", raised at ", run.exception_file, ":", run.exception_line);
      places.push_back({.thing = "", .file = run.exception_file, .line = run.exception_line});
    }
  }
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

Evidence EndedWith(int status, std::string_view exception = "",
                   Ending::How how = Ending::How::kFailed) {
  RunBuilder run = TwoLayers();
  if (!exception.empty()) {
    run.Process("exception", exception);
    run.Process("exception_file", "/home/me/train.py");
    run.Process("exception_line", "12");
  }
  for (int step = 0; step < 4; ++step) AddStep(run, {.held = {}});
  run.Ends(status == 0 ? Ending::How::kFinished : how, status);
  return PlainOnly(run);
}

}  // namespace

Check Failed() {
  return {
      .id = "program/failed",
      .title = "The program crashed or exited with an error",
      .promise = "The program ends normally with exit status 0.",
      .why =
          "A crashed run has trained for fewer steps than requested, even if its last files look "
          "complete.",
      .method = "Checks the exit status or signal of the plain run.",
      .fix = "Read the program's own last lines above this report; dlcheck does not change them.",
      .limits = {.needs = "A recorded end of the program.",
                 .silent_when = "",
                 .severity = "",
                 .blind_spots =
                     "A program that catches its own failure and exits with status 0 passes.",
                 .sensitivity = ""},
      .python = {.bad = R"(for x, y in loader:
    loss = criterion(model(x), y)
    assert loss < 10, "loss too high"  # ends the run
    loss.backward()
    optimizer.step())",
                 .good = R"(for x, y in loader:
    loss = criterion(model(x), y)
    if loss > 10:
        logging.warning("loss too high: %s", loss)
    loss.backward()
    optimizer.step())"},
      .cpp = {.bad = R"(for (auto& batch : *loader) {
  auto loss = criterion(model->forward(batch.data), batch.target);
  TORCH_CHECK(loss.item<float>() < 10, "loss too high");  // ends the run
  loss.backward();
  optimizer.step();
})",
              .good = R"(for (auto& batch : *loader) {
  auto loss = criterion(model->forward(batch.data), batch.target);
  if (loss.item<float>() >= 10) std::cerr << "loss too high";
  loss.backward();
  optimizer.step();
})"},
      .sources = {"POSIX: wait status"},
      .covers = {"failed-program"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"status 0", Expect::kClean, [] { return EndedWith(0); }},
                   {"status 1", Expect::kError, [] { return EndedWith(1); }},
                   {"a signal", Expect::kError,
                    [] { return EndedWith(9, "", Ending::How::kKilled); }},
                   {"an exception", Expect::kError,
                    [] { return EndedWith(1, "ValueError: 3 is no class"); }}},
  };
}

}  // namespace dlcheck::program

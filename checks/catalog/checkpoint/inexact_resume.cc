#include <algorithm>
#include <optional>

#include "checks/catalog/resume_finding.h"
#include "checks/catalog/resume_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/signals/program_state.h"

namespace dlcheck::checkpoint {
namespace {

using Repetition = IfSeen<During<kSameSeed, ProgramState>>;
using Interrupted = IfSeen<During<kInterrupted, ProgramState>>;

// Takes out the parts that differ in two uninterrupted runs too: they say nothing.
void LeaveOutUnsteady(const Parts& first, const Parts& second, std::vector<std::string>& names) {
  const std::vector<std::string> unsteady = DifferingParts(first, second);
  std::erase_if(names, [&](const std::string& name) {
    return std::find(unsteady.begin(), unsteady.end(), name) != unsteady.end();
  });
}

// Whether two runs of the same may be expected to agree.
absl::Status Comparable(const ProgramState& plain, const Repetition& second) {
  if (plain.loaded && !(second && second->loaded)) {
    return absl::FailedPreconditionError("the plain run itself went on from saved state");
  }
  const bool repeats = !second || !FirstDifference(plain.LossesFrom(0, kSameSeed.steps),
                                                   second->LossesFrom(0, kSameSeed.steps));
  if (repeats && plain.nondeterministic.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError("two uninterrupted runs with one seed differ already");
}

// A host that takes part interrupts itself, and shows in the plain run what it is then.
absl::StatusOr<Verdict> JudgeHost(const ProgramState& plain, const ProgramState& resumed,
                                  const Repetition& second) {
  const Parts* there = plain.PartsAt(kResumed.at_step);
  const Parts* here = resumed.PartsAt(0);
  if (there == nullptr || here == nullptr) {
    return absl::NotFoundError(
        StrCat("the state before step ", kResumed.at_step, " was not recorded in both runs"));
  }
  DLCHECK_RETURN_IF_ERROR(Comparable(plain, second));
  std::vector<std::string> names = DifferingParts(*there, *here);
  const Parts* again = second ? second->PartsAt(kResumed.at_step) : nullptr;
  if (again != nullptr) LeaveOutUnsteady(*there, *again, names);
  const Losses expected = plain.LossesFrom(kResumed.at_step, kResumed.steps);
  const Losses got = resumed.LossesFrom(0, kResumed.steps);
  Verdict verdict{.findings = {}, .judged = Compared(*there, expected, got)};
  if (names.empty() && !FirstDifference(expected, got)) return verdict;
  std::string message = ResumeMessage(names.empty() ? "" : PartsStory(names, *there, *here),
                                      LossStory(expected, got, kResumed.at_step), kResumed.at_step);
  if (again == nullptr) message += "; whether two runs with one seed agree was not tested";
  const Severity severity = again != nullptr ? Severity::kError : Severity::kWarning;
  verdict.findings.push_back(Differing(severity, std::move(message), names, kResumed.at_step));
  return verdict;
}

// A program that knows nothing of this: what it was as it had saved its state, against what it is
// as it goes on from there. Its state is the same whatever chance does; its losses need not be.
absl::StatusOr<Verdict> JudgeProgram(const ProgramState& interrupted, const ProgramState& resumed) {
  const Parts there = interrupted.AllParts(), here = resumed.AllParts();
  const int64_t at_step = interrupted.at.begin()->first;
  std::vector<std::string> lost, left_to_chance;
  for (const std::string& name : DifferingParts(there, here)) {
    if (ShowsLate(name) && !(there.contains(name) && here.contains(name))) continue;
    (IsChance(name) ? left_to_chance : lost).push_back(name);
  }
  const Losses expected = interrupted.LossesFrom(at_step, kResumed.steps);
  const Losses got = resumed.LossesFrom(0, kResumed.steps);
  const std::string loss = LossStory(expected, got, at_step);
  Verdict verdict{.findings = {}, .judged = Compared(there, expected, got)};
  if (!lost.empty()) {
    verdict.findings.push_back(
        Differing(Severity::kWarning, ResumeMessage(PartsStory(lost, there, here), loss, at_step),
                  lost, at_step));
  } else if (!left_to_chance.empty() && !loss.empty()) {
    verdict.findings.push_back(Differing(
        Severity::kNote, ResumeMessage(PartsStory(left_to_chance, there, here), loss, at_step),
        left_to_chance, at_step));
  }
  return verdict;
}

absl::StatusOr<Verdict> Judge(const Settings&, const IfSeen<ProgramState>& plain,
                              const During<kResumed, ProgramState>& resumed,
                              const Repetition& second, const Interrupted& interrupted) {
  if (interrupted) return JudgeProgram(*interrupted, *resumed);
  if (!plain) return absl::NotFoundError("the plain run did not show its state");
  return JudgeHost(*plain, *resumed, second);
}

}  // namespace

Check InexactResume() {
  return {
      .id = "checkpoint/inexact_resume",
      .promise = "A run that is interrupted and resumed goes on, bit for bit, as if it were not.",
      .why =
          "What is not in the checkpoint begins anew: moments, rates, averages, the order of the "
          "data; the loss jumps, or data are seen twice.",
      .method =
          "The program is interrupted after it saved its state and started again among the files "
          "it "
          "left; digests of the parts of its state as training goes on, and up to 32 losses, are "
          "compared with those of the run that was not interrupted there, bit by bit.",
      .fix =
          "Save and load the named parts too; where all are equal, look for what is nowhere in the "
          "state: the position in the data, a generator, a buffer that is not registered.",
      .limits =
          "Of Python programs those that save a model between two steps and, started by the same "
          "command or by that of --resume-command, load it: a warning, and where only random "
          "numbers "
          "and the order of data differ a note. Needs files of its own for the experiment, which "
          "not every system gives. Of other programs those that take part and show their state: an "
          "error, unless two uninterrupted runs with one seed differ. Only one place is tried.",
      .sources = {"PyTorch notes on reproducibility", "own reasoning"},
      .covers = {"K01", "K02", "K03", "K05", "K06", "K09", "K10"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kLoaded,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"all is back", Expect::kClean, [] { return Resumed(14, 2.3, 14); }},
                   {"a part that no two runs agree on", Expect::kClean,
                    [] { return Resumed(15, 2.3, 16); }},
                   {"the moments are not", Expect::kFaulty, [] { return Resumed(15, 2.3, 14); }},
                   {"all is back, but one loss is another", Expect::kFaulty,
                    [] { return Resumed(14, 2.3 + 4.5e-16, 14); }},
                   {"a program that is whole again", Expect::kClean, [] { return Restarted({}); }},
                   {"a program without its moments", Expect::kFaulty,
                    [] { return Restarted({.moments = 3}); }},
                   {"other random numbers that nothing depends on", Expect::kClean,
                    [] { return Restarted({.order = 3}); }},
                   {"other random numbers", Expect::kFaulty,
                    [] { return Restarted({.order = 3, .loss = 2.4}); }},
                   {"a model that was not called yet", Expect::kClean,
                    [] { return Restarted({.has_buffers = false}); }}},
  };
}

}  // namespace dlcheck::checkpoint

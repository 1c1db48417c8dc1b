#include <algorithm>
#include <optional>

#include "checks/catalog/examples/resume_runs.h"
#include "checks/catalog/findings/resume_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/signals/checkpoint/program_state.h"

namespace dlcheck::checkpoint {
namespace {

using Repetition = IfSeen<During<kSameSeed, ProgramState>>;
using Interrupted = IfSeen<During<kInterrupted, ProgramState>>;

// Removes the parts that also differ between two uninterrupted runs.
void LeaveOutUnsteady(const Parts& first, const Parts& second, std::vector<std::string>& names) {
  const std::vector<std::string> unsteady = DifferingParts(first, second);
  std::erase_if(names, [&](const std::string& name) {
    return std::find(unsteady.begin(), unsteady.end(), name) != unsteady.end();
  });
}

// OK if two runs with one seed agree.
absl::Status Comparable(const ProgramState& plain, const Repetition& second) {
  if (plain.loaded && !(second && second->loaded)) {
    return absl::FailedPreconditionError("the plain run itself resumed from saved state");
  }
  const bool repeats = !second || !FirstDifference(plain.LossesFrom(0, kSameSeed.steps),
                                                   second->LossesFrom(0, kSameSeed.steps));
  if (repeats && plain.nondeterministic.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError("two uninterrupted runs with one seed differ");
}

// A program that reports its state interrupts itself, and reports its state in the plain run too.
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
  if (again == nullptr) message += "; two runs with one seed were not compared";
  const Severity severity = again != nullptr ? Severity::kError : Severity::kWarning;
  verdict.findings.push_back(Differing(severity, std::move(message), names, kResumed.at_step));
  return verdict;
}

// A program that does not report its state: the state as it was saved against the state as the run
// resumes. Random numbers change the losses but not this state.
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
  if (!plain) return absl::NotFoundError("the plain run did not report its state");
  return JudgeHost(*plain, *resumed, second);
}

}  // namespace

Check InexactResume() {
  return {
      .id = "checkpoint/inexact_resume",
      .title = "A resumed run differs from the original",
      .promise = "A run resumed from a checkpoint continues bit for bit like an uninterrupted one.",
      .why =
          "Anything missing in the checkpoint is reset: optimizer moments, learning rates, EMA "
          "weights, data order. The loss jumps, or samples are seen twice.",
      .method =
          "Interrupts the program after it saves its state and restarts it with the saved files. "
          "Compares digests of the parts of the state, and up to 32 losses, with the uninterrupted "
          "run, bit by bit.",
      .fix =
          "Save and load the named parts too. If all parts match, something was never saved: the "
          "data position, a generator, an unregistered buffer.",
      .limits =
          {.needs = "--deep, and a system that gives the experiment its own copy of files. The "
                    "program must save a model between two steps and load it when restarted "
                    "(--resume-command). A C++ program with a probe must report its state.",
           .silent_when =
               "Two uninterrupted runs with one seed differ (programs that report their state).",
           .severity = "Error for programs that report their state. Warning for others, but a "
                       "note if only random numbers and the data order differ.",
           .blind_spots = "The check interrupts the program at one place only.",
           .sensitivity = ""},
      .python = {.bad = R"(checkpoint = torch.load("checkpoint.pt")
model.load_state_dict(checkpoint["model"])
optimizer.load_state_dict(checkpoint["optimizer"]))",
                 .good = R"(checkpoint = torch.load("checkpoint.pt")
model.load_state_dict(checkpoint["model"])
ema.load_state_dict(checkpoint["ema"])
optimizer.load_state_dict(checkpoint["optimizer"])
scheduler.load_state_dict(checkpoint["scheduler"])
torch.set_rng_state(checkpoint["rng_state"]))"},
      .cpp = {},
      .sources = {"PyTorch notes on reproducibility", "own reasoning"},
      .covers = {"optimizer-state-not-saved", "schedule-state-not-saved", "data-position-not-saved",
                 "unnoticed-missing-keys", "lost-buffers", "epoch-restarted",
                 "learning-rate-reset-on-resume"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kLoaded,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"all parts are restored", Expect::kClean, [] { return Resumed(14, 2.3, 14); }},
                   {"a part that differs in any two runs", Expect::kClean,
                    [] { return Resumed(15, 2.3, 16); }},
                   {"the moments are not restored", Expect::kError,
                    [] { return Resumed(15, 2.3, 14); }},
                   {"all parts are restored, but one loss differs", Expect::kError,
                    [] { return Resumed(14, 2.3 + 4.5e-16, 14); }},
                   {"a program that restores all parts", Expect::kClean,
                    [] { return Restarted({}); }},
                   {"a program that does not restore its moments", Expect::kWarning,
                    [] { return Restarted({.moments = 3}); }},
                   {"different random numbers that nothing uses", Expect::kClean,
                    [] { return Restarted({.order = 3}); }},
                   {"different random numbers", Expect::kNote,
                    [] { return Restarted({.order = 3, .loss = 2.4}); }},
                   {"a model that has not run yet", Expect::kClean,
                    [] { return Restarted({.has_buffers = false}); }}},
  };
}

}  // namespace dlcheck::checkpoint

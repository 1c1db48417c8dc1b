#include "checks/engine/runner.h"

#include <algorithm>
#include <exception>
#include <functional>

#include "checks/engine/clock.h"
#include "checks/engine/lines.h"
#include "checks/engine/repeats.h"
#include "checks/engine/text.h"
#include "checks/engine/whole.h"

namespace dlcheck {
namespace {

Settings SettingsOf(const Check& check, const ChangedSettings& changed) {
  const auto found = changed.find(check.id);
  return found == changed.end() ? Settings() : Settings(found->second);
}

bool EndedWell(const Ending& ending) {
  return ending.how == Ending::How::kFinished || ending.how == Ending::How::kStopped;
}

// A program that trained for a while and then failed, as at an assertion of its own score, can
// still be asked why. Fewer steps than this would not do for any experiment.
constexpr int64_t kTrainedForAWhile = 64;

bool TrainedForAWhile(const Run& run) {
  int64_t steps = 0;
  for (const Occurrence& event : run.trace.Events()) {
    if (event.event == Event::kStep) steps += Whole(event.count);
  }
  return run.ending.how == Ending::How::kFailed && steps >= kTrainedForAWhile;
}

// Why an experiment's run is no evidence, if it is none. Experiments change what is learned, so a
// program may well fail at the end of one; what it recorded until then counts.
absl::Status Usable(const Experiment& experiment, const Run& run) {
  if (EndedWell(run.ending) || TrainedForAWhile(run)) return absl::OkStatus();
  if (run.ending.how == Ending::How::kDeadline) {
    return absl::DeadlineExceededError(
        StrCat(Describe(experiment), " did not end within the time budget (--deep-timeout)"));
  }
  const std::string_view last_line = run.trace.ProcessAttribute("last_line");
  return absl::UnavailableError(StrCat("the program failed in experiment '", Describe(experiment),
                                       "' (status ", run.ending.status, ")",
                                       last_line.empty() ? "" : ": ", last_line));
}

class Gathering {
 public:
  Gathering(const Subject& subject, const Allowance& allowance, const OnExperiment& on_experiment)
      : subject_(subject), allowance_(allowance), on_experiment_(on_experiment) {}

  void RunPlain() {
    absl::StatusOr<Run> run = subject_(kPlain, absl::InfiniteDuration());
    if (!run.ok()) {
      evidence_.AddMissing(kPlain, run.status());
      return;
    }
    worth_experiments_ =
        run->ending.stopped_by.empty() && (EndedWell(run->ending) || TrainedForAWhile(*run));
    failed_ = run->ending.how == Ending::How::kFailed;
    evidence_.Add(kPlain, *std::move(run));
  }

  void RunExperiment(const Experiment& experiment) {
    if (evidence_.Knows(experiment)) return;
    if (const Experiment* first = RunBefore(experiment)) RunExperiment(*first);
    if (!worth_experiments_ && !(experiment == kReplay && failed_)) {
      evidence_.AddMissing(experiment, absl::FailedPreconditionError(
                                           "the plain run failed, so no experiment was run"));
      return;
    }
    const absl::Duration left = allowance_.time - spent_;
    if (left <= absl::ZeroDuration()) {
      evidence_.AddMissing(experiment, absl::DeadlineExceededError(StrCat(
                                           "the time budget (--deep-timeout) was spent before ",
                                           Describe(experiment))));
      return;
    }
    on_experiment_(experiment);
    const absl::Duration start = MonotonicNow();
    absl::StatusOr<Run> run = subject_(experiment, left);
    spent_ += MonotonicNow() - start;
    absl::Status usable = run.ok() ? Usable(experiment, *run) : run.status();
    if (usable.ok()) {
      evidence_.Add(experiment, *std::move(run));
    } else {
      evidence_.AddMissing(experiment, std::move(usable));
    }
  }

  Evidence& evidence() { return evidence_; }

 private:
  const Subject& subject_;
  const Allowance& allowance_;
  const OnExperiment& on_experiment_;
  absl::Duration spent_;
  bool worth_experiments_ = false;
  bool failed_ = false;  // the plain run, which a replay can still follow to where it went wrong
  Evidence evidence_;
};

// What checks need at any rate, the one that most of them wait for first: the time may not do for
// all.
std::vector<Experiment> Required(std::span<const Check* const> checks) {
  std::vector<std::pair<Experiment, int>> waiting;
  for (const Check* check : checks) {
    for (const Need& need : check->judgement.needs) {
      if (need.optional || need.experiment == kPlain) continue;
      const auto known =
          std::ranges::find(waiting, need.experiment, &std::pair<Experiment, int>::first);
      if (known == waiting.end()) {
        waiting.emplace_back(need.experiment, 1);
      } else {
        ++known->second;
      }
    }
  }
  std::ranges::stable_sort(waiting, std::greater<>(), &std::pair<Experiment, int>::second);
  std::vector<Experiment> required;
  for (const auto& [experiment, count] : waiting) required.push_back(experiment);
  return required;
}

// What a check says; an exception of it is its own fault, and no other check's.
absl::StatusOr<Verdict> VerdictOf(const Check& check, const Settings& settings,
                                  const Evidence& evidence) {
  try {
    return check.judgement.judge(settings, evidence);
  } catch (const std::exception& error) {
    return absl::InternalError(error.what());
  }
}

// The next experiment that might let a check pass that does not yet, or null.
const Experiment* NextOptional(const Check& check, const Settings& settings,
                               const Evidence& evidence) {
  const absl::StatusOr<Verdict> verdict = VerdictOf(check, settings, evidence);
  const bool unseen = absl::IsNotFound(verdict.status());
  if (!unseen && (!verdict.ok() || verdict->findings.empty())) return nullptr;
  for (const Need& need : check.judgement.needs) {
    if (need.optional && !evidence.Knows(need.experiment)) return &need.experiment;
  }
  return nullptr;
}

Result JudgeOne(const Evidence& evidence, const Check& check, const Settings& settings) {
  absl::StatusOr<Verdict> verdict = VerdictOf(check, settings, evidence);
  if (!verdict.ok()) {
    return {&check, OutcomeOf(verdict.status()), std::string(verdict.status().message()), {}};
  }
  if (check.stands_at.has_value()) {
    for (Finding& finding : verdict->findings) GiveLine(evidence, *check.stands_at, finding);
  }
  const bool in_evaluation = check.stands_at == Event::kEvaluationForward;
  for (const Event event : check.also_at) {
    for (Finding& finding : verdict->findings) AddLine(evidence, event, in_evaluation, finding);
  }
  JoinRepeats(verdict->findings);
  const Outcome outcome = verdict->findings.empty() ? Outcome::kPassed : Outcome::kFailed;
  return {&check, outcome, "", *std::move(verdict)};
}

}  // namespace

Evidence Gather(const Subject& subject, std::span<const Check* const> checks,
                const ChangedSettings& settings, const Allowance& allowance,
                const OnExperiment& on_experiment, const Interrupted& interrupted) {
  Gathering gathering(subject, allowance, on_experiment);
  gathering.RunPlain();
  if (!allowance.experiments) return std::move(gathering.evidence());
  for (const Experiment& experiment : Required(checks)) {
    if (interrupted()) return std::move(gathering.evidence());
    gathering.RunExperiment(experiment);
  }
  for (const Check* check : checks) {
    const Settings own = SettingsOf(*check, settings);
    while (const Experiment* next = NextOptional(*check, own, gathering.evidence())) {
      if (interrupted()) return std::move(gathering.evidence());
      gathering.RunExperiment(*next);
    }
  }
  return std::move(gathering.evidence());
}

std::vector<Experiment> PlannedExperiments(std::span<const Check* const> checks) {
  std::vector<Experiment> planned;
  const auto add = [&planned](const Experiment& experiment) {
    if (experiment == kPlain || std::ranges::find(planned, experiment) != planned.end()) return;
    planned.push_back(experiment);
  };
  for (const Experiment& experiment : Required(checks)) {
    if (const Experiment* first = RunBefore(experiment)) add(*first);
    add(experiment);
  }
  for (const Check* check : checks) {
    for (const Need& need : check->judgement.needs) add(need.experiment);
  }
  return planned;
}

Report JudgeAll(const Evidence& evidence, std::span<const Check* const> checks,
                const ChangedSettings& settings) {
  Report report;
  for (const Check* check : checks) {
    report.results.push_back(JudgeOne(evidence, *check, SettingsOf(*check, settings)));
  }
  for (const auto& [experiment, run] : evidence.runs()) {
    report.runs.push_back({experiment, run.ending, "", run.losses});
  }
  for (const auto& [experiment, why] : evidence.missing()) {
    report.runs.push_back({experiment, Ending(), std::string(why.message())});
  }
  report.coverage = CoverageOf(evidence);
  if (const Run* plain = evidence.RunOf(kPlain)) report.language = LanguageOf(plain->trace);
  report.recording = RecordingOf(evidence);
  return report;
}

}  // namespace dlcheck

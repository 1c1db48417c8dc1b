#include "checks/engine/report.h"
#include "checks/engine/whole.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace dlcheck {

std::string_view OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPassed:
      return "passed";
    case Outcome::kFailed:
      return "failed";
    case Outcome::kNotApplicable:
      return "not_applicable";
    case Outcome::kNotSeen:
      return "not_observed";
    case Outcome::kOverAllowance:
      return "timed_out";
    case Outcome::kBroken:
      return "internal_error";
    case Outcome::kSetAside:
      return "set_aside";
  }
  return "";
}

std::string_view StateName(SuppressionUse::State state) {
  switch (state) {
    case SuppressionUse::State::kUsed:
      return "used";
    case SuppressionUse::State::kUnused:
      return "unused";
    case SuppressionUse::State::kExpired:
      return "expired";
    case SuppressionUse::State::kNotJudged:
      return "not_judged";
  }
  return "";
}

bool HasVerdict(const Result& result) {
  return result.outcome == Outcome::kPassed || result.outcome == Outcome::kFailed ||
         result.outcome == Outcome::kSetAside;
}

Outcome OutcomeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kFailedPrecondition:
      return Outcome::kNotApplicable;
    case absl::StatusCode::kDeadlineExceeded:
      return Outcome::kOverAllowance;
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kUnavailable:
      return Outcome::kNotSeen;
    default:
      return Outcome::kBroken;
  }
}

Severity WorstOf(const Verdict& verdict) {
  Severity worst = Severity::kNote;
  for (const Finding& finding : verdict.findings) worst = std::max(worst, finding.severity);
  return worst;
}

int Count(const Report& report, Outcome outcome) {
  return static_cast<int>(std::count_if(report.results.begin(), report.results.end(),
                                        [&](const Result& r) { return r.outcome == outcome; }));
}

int CountSetAside(const Report& report, SetAsideFinding::How how) {
  int count = 0;
  for (const Result& result : report.results) {
    for (const SetAsideFinding& aside : result.set_aside) count += aside.how == how;
  }
  return count;
}

int ExitCodeOf(const Report& report, Severity fail_on, const std::vector<std::string>& required) {
  bool findings = false, undecided = false, decided = false;
  for (const Result& result : report.results) {
    const bool verdict = HasVerdict(result);
    // Whether the program itself failed says nothing about its training.
    if (verdict && AreaOf(result.check->id) != "program") decided = true;
    if (result.outcome == Outcome::kBroken) return kExitInternal;
    if (result.outcome == Outcome::kFailed && WorstOf(result.verdict) >= fail_on) findings = true;
    if (!verdict &&
        std::find(required.begin(), required.end(), result.check->id) != required.end()) {
      undecided = true;
    }
  }
  if (findings) return kExitFindings;
  if (undecided) return kExitUndecided;
  return decided && report.coverage.training ? kExitClean : kExitNothing;
}

Coverage CoverageOf(const Evidence& evidence) {
  Coverage coverage;
  for (const auto& [experiment, run] : evidence.runs()) {
    for (const Occurrence& event : run.trace.Events()) {
      if (event.event == Event::kStep || event.event == Event::kBackward) coverage.training = true;
    }
  }
  const Run* plain = evidence.RunOf(kPlain);
  if (plain == nullptr) return coverage;
  const Trace& trace = plain->trace;
  coverage.cut = plain->MayBeCut();
  coverage.unseen = UnseenIn(trace);
  coverage.processes = ProcessesIn(trace);
  std::map<uint16_t, std::pair<int64_t, int64_t>> steps;  // of each process: all, sampled
  for (const Occurrence& event : trace.Events()) {
    if (event.event != Event::kStep) continue;
    steps[event.rank].first += Whole(event.count);
    if (!event.gap) ++steps[event.rank].second;
  }
  for (const auto& [rank, counts] : steps) {
    if (counts.first <= coverage.steps) continue;
    std::tie(coverage.steps, coverage.sampled_steps) = counts;
  }
  for (const ThingId parameter : trace.ThingsOfKind("parameter")) {
    ++coverage.parameters;
    if (!trace.Series(Quantity::kGradientNorm, parameter).empty()) {
      ++coverage.parameters_with_gradient;
    }
  }
  return coverage;
}

}  // namespace dlcheck

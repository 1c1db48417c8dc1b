#include "diagnostics/cli/live.h"

#include <algorithm>
#include <cstdio>

#include "checks/engine/clock.h"
#include "checks/engine/text.h"
#include "checks/engine/trace_reader.h"
#include "checks/records/visible.h"
#include "diagnostics/fingerprint.h"
#include "diagnostics/set_aside.h"

namespace dlcheck::cli {
namespace {

constexpr absl::Duration kFirstInterval = absl::Milliseconds(500);
constexpr absl::Duration kLongestInterval = absl::Seconds(30);
constexpr int kShare = 50;  // of the time that a look takes, to the time until the next

const Finding* WorstError(const Result& result) {
  for (const Finding& finding : result.verdict.findings) {
    if (finding.severity == Severity::kError) return &finding;
  }
  return nullptr;
}

void Say(const Result& result) {
  const Finding& finding = *WorstError(result);
  const std::string place = PlaceOf(finding);
  std::fprintf(stderr, "%s\n",
               Visible(StrCat("dlcheck  live: error ", result.check->id, place.empty() ? "" : " ",
                              place, " step ", finding.first_step, ": ", finding.message))
                   .c_str());
}

}  // namespace

LiveJudge::LiveJudge(const Choice& choice, std::string run_folder)
    : choice_(choice), run_folder_(std::move(run_folder)), interval_(kFirstInterval) {
  std::ranges::copy_if(choice.checks, std::back_inserter(checks_),
                       [](const Check* check) { return check->live; });
}

const Result* LiveJudge::Unsaid(const Report& report) const {
  for (const Result& result : report.results) {
    if (WorstError(result) != nullptr && !said_.contains(result.check->id)) return &result;
  }
  return nullptr;
}

Look LiveJudge::operator()() {
  if (said_.size() == checks_.size()) return {.next = absl::InfiniteDuration()};
  const absl::Duration start = MonotonicNow();
  absl::StatusOr<RecordedRun> recorded = ReadRecordedRun(run_folder_);
  // Not yet, or not wholly written: a later look will tell.
  if (!recorded.ok() || recorded->run.trace.Events().empty()) return {.next = kFirstInterval};
  SetDeclared(choice_.declared, recorded->run.trace);
  Evidence evidence;
  evidence.Add(kPlain, std::move(recorded->run));
  Report report = JudgeAll(evidence, checks_, choice_.settings);
  SetAside(choice_.exemptions, report);
  while (const Result* result = Unsaid(report)) {
    Say(*result);
    said_.insert(result->check->id);
    if (choice_.stop_on_error) return {.next = {}, .stopped_by = std::string(result->check->id)};
  }
  const absl::Duration next = std::max(interval_, kShare * (MonotonicNow() - start));
  interval_ = std::min(2 * interval_, kLongestInterval);
  return {.next = next};
}

}  // namespace dlcheck::cli

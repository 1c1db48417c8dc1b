#include "checks/signals/distributed/dealt_training.h"

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/numbers.h"
#include "checks/signals/distributed/rank_rows.h"
#include "checks/signals/run/first_process.h"

namespace dlcheck {
namespace {

// Of two processes, below which none in common says little.
constexpr int64_t kFewestRows = 16;

// Loaders of the first process whose batch was the last before a backward call, and was not
// evaluated.
std::set<ThingId> LoadersOfTraining(const Trace& trace) {
  std::set<ThingId> loaders;
  ThingId last = 0;  // that a batch was fetched from
  for (const Occurrence& event : FirstProcess(trace.Events())) {
    if (event.event == Event::kFetched) last = event.thing;
    if (event.event == Event::kEvaluationForward) last = 0;
    if (event.event == Event::kBackward && last != 0) loaders.insert(last);
  }
  return loaders;
}

Ranks RanksWith(const Trace& trace, Event event) {
  std::set<uint16_t> ranks;
  for (const Occurrence& occurrence : trace.Events()) {
    if (occurrence.event == event) ranks.insert(occurrence.rank);
  }
  return {ranks.begin(), ranks.end()};
}

}  // namespace

absl::StatusOr<DealtTraining> DealtTraining::From(const Run& run) {
  const std::set<ThingId> loaders = LoadersOfTraining(run.trace);
  DealtTraining dealt;
  for (const ThingId loader : loaders) {
    int64_t processes = 1;
    if (absl::SimpleAtoi(std::string(run.trace.Attribute(loader, "dealt_to")), &processes)) {
      dealt.processes = std::max(dealt.processes, processes);
    }
  }
  const Ranks told = WithRows(run.trace);
  if (loaders.empty() && told.empty()) return absl::NotFoundError("no training data was observed");
  const CommonRows common = MostCommonRows(run.trace, told);
  if (common.common == 0 && common.rows >= kFewestRows) {
    dealt.apart = told;
    dealt.rows = common.rows;
  }
  dealt.users = RanksWith(run.trace, Event::kSaved);
  if (dealt.users.empty()) dealt.users = RanksWith(run.trace, Event::kEvaluationForward);
  return dealt;
}

}  // namespace dlcheck

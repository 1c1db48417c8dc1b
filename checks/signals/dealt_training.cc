#include "checks/signals/dealt_training.h"

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/numbers.h"
#include "checks/signals/first_process.h"

namespace dlcheck {
namespace {

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

}  // namespace

absl::StatusOr<DealtTraining> DealtTraining::From(const Run& run) {
  const std::set<ThingId> loaders = LoadersOfTraining(run.trace);
  if (loaders.empty()) return absl::NotFoundError("no batch of a loader was trained on");
  DealtTraining dealt;
  for (const ThingId loader : loaders) {
    int64_t processes = 1;
    if (absl::SimpleAtoi(std::string(run.trace.Attribute(loader, "dealt_to")), &processes)) {
      dealt.processes = std::max(dealt.processes, processes);
    }
  }
  return dealt;
}

}  // namespace dlcheck

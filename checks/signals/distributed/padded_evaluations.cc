#include "checks/signals/distributed/padded_evaluations.h"

#include <map>
#include <string>

#include "absl/strings/numbers.h"
#include "checks/signals/distributed/rank_groups.h"
#include "checks/signals/run/first_process.h"

namespace dlcheck {

absl::StatusOr<PaddedEvaluations> PaddedEvaluations::From(const Run& run) {
  const Trace& trace = run.trace;
  const auto number = [&trace](ThingId thing, std::string_view key) {
    double value = 0;
    return absl::SimpleAtod(std::string(trace.Attribute(thing, key)), &value) ? value : 0;
  };
  std::map<ThingId, Loader> loaders;
  ThingId last = 0;  // that a batch was fetched from
  for (const Occurrence& event : FirstProcess(trace.Events())) {
    if (event.event == Event::kFetched) last = event.thing;
    if (event.event == Event::kForward) last = 0;
    if (event.event != Event::kEvaluationForward || last == 0) continue;
    if (number(last, "dealt_to") < 2) continue;
    const auto [loader, is_new] = loaders.try_emplace(
        last, Loader{.samples = number(last, "samples"), .padding = number(last, "padding")});
    if (is_new) loader->second.first_step = event.step;
    loader->second.last_step = event.step;
  }
  PaddedEvaluations found;
  for (const auto& [thing, loader] : loaders) found.loaders.push_back(loader);
  if (found.loaders.empty()) {
    return WhyNotCompared(trace,
                          "no evaluation was observed whose samples are sharded across ranks");
  }
  return found;
}

}  // namespace dlcheck

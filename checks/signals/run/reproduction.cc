#include "checks/signals/run/reproduction.h"

#include <algorithm>
#include <set>
#include <span>

#include "checks/signals/loss/initial_loss.h"
#include "checks/signals/run/first_process.h"

namespace dlcheck {
namespace {

void Collect(const Trace& trace, Quantity quantity, Reproduction::What what,
             Reproduction& reproduction) {
  for (const ThingId thing : trace.ThingsWith(quantity)) {
    std::span<const Sample> rest = trace.Series(quantity, thing);
    std::set<uint16_t> seen;
    while (!rest.empty()) {
      const std::span<const Sample> process = FirstProcess(rest);
      rest = rest.subspan(process.size());
      const uint16_t rank = process.front().rank;
      if (!seen.insert(rank).second) continue;
      for (const Sample& sample : process) {
        // The second number of a loss is its number of samples.
        reproduction.values[rank].push_back({sample.step, what, sample.value, sample.aux});
      }
    }
  }
}

}  // namespace

absl::StatusOr<Reproduction> Reproduction::From(const Run& run) {
  const Trace& trace = run.trace;
  Reproduction reproduction;
  // In the order in which a difference would spread within a step.
  Collect(trace, Quantity::kWeightsDigest, What::kWeights, reproduction);
  Collect(trace, Quantity::kBatchDigest, What::kBatch, reproduction);
  Collect(trace, Quantity::kLoss, What::kLoss, reproduction);
  for (auto& [rank, values] : reproduction.values) {
    std::stable_sort(values.begin(), values.end(),
                     [](const Value& a, const Value& b) { return a.step < b.step; });
  }
  if (reproduction.values.empty())
    return absl::NotFoundError("neither losses nor weights were recorded");
  for (const Occurrence& event : trace.Events()) {
    if (event.event == Event::kStep) break;
    if (event.event == Event::kSeeded) reproduction.seeded = true;
  }
  reproduction.loaded = LoadedBeforeStart(trace);
  reproduction.nondeterministic = std::string(trace.ProcessAttribute("nondeterministic"));
  return reproduction;
}

}  // namespace dlcheck

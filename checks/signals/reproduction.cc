#include "checks/signals/reproduction.h"

#include <algorithm>

#include "checks/signals/initial_loss.h"

namespace dlcheck {
namespace {

void Collect(const Trace& trace, Quantity quantity, Reproduction::What what,
             std::vector<Reproduction::Value>& values) {
  for (const ThingId thing : trace.ThingsWith(quantity)) {
    for (const Sample& sample : trace.Series(quantity, thing)) {
      // The second number of a loss is its number of samples.
      values.push_back({sample.step, what, sample.value, sample.aux});
    }
  }
}

}  // namespace

absl::StatusOr<Reproduction> Reproduction::From(const Run& run) {
  const Trace& trace = run.trace;
  Reproduction reproduction;
  // In the order in which a difference would spread within a step.
  Collect(trace, Quantity::kWeightsDigest, What::kWeights, reproduction.values);
  Collect(trace, Quantity::kBatchDigest, What::kBatch, reproduction.values);
  Collect(trace, Quantity::kLoss, What::kLoss, reproduction.values);
  std::stable_sort(reproduction.values.begin(), reproduction.values.end(),
                   [](const Value& a, const Value& b) { return a.step < b.step; });
  if (reproduction.values.empty())
    return absl::NotFoundError("neither losses nor digests were seen");
  for (const Occurrence& event : trace.Events()) {
    if (event.event == Event::kStep) break;
    if (event.event == Event::kSeeded) reproduction.seeded = true;
  }
  reproduction.loaded = LoadedBeforeStart(trace);
  reproduction.nondeterministic = std::string(trace.ProcessAttribute("nondeterministic"));
  return reproduction;
}

}  // namespace dlcheck

#include "checks/signals/run/step_costs.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "absl/strings/numbers.h"
#include "checks/records/sampling.h"
#include "checks/signals/run/first_process.h"

namespace dlcheck {
namespace {

StepCosts::Costs CostsOf(const Trace& trace, Quantity quantity) {
  StepCosts::Costs costs;
  for (const ThingId thing : trace.ThingsWith(quantity)) {
    for (const Sample& sample : FirstProcess(trace.Series(quantity, thing))) {
      costs.push_back({sample.step, sample.value});
    }
  }
  std::ranges::stable_sort(costs, {}, &StepCosts::Cost::step);
  return costs;
}

double NumberOf(std::string_view text) {
  double number = 0;
  return absl::SimpleAtod(std::string(text), &number) ? number : 0;
}

// Without those of steps in which a model was evaluated or a file was saved, or in which the probe
// itself read all weights.
StepCosts::Costs UndisturbedOf(const Trace& trace, StepCosts::Costs costs) {
  std::set<int64_t> disturbed;
  for (const Occurrence& event : FirstProcess(trace.Events())) {
    const bool is_evaluation =
        event.event == Event::kEvaluationForward || event.event == Event::kEvaluationBegan;
    if (is_evaluation || event.event == Event::kSaved) disturbed.insert(event.step);
  }
  std::erase_if(costs, [&disturbed](const StepCosts::Cost& cost) {
    return disturbed.contains(cost.step) || TakesDigest(cost.step) || TakesDigest(cost.step - 1);
  });
  return costs;
}

// Batches handed out, over those that all loaders together have.
double PassesOf(const Trace& trace) {
  double fetched = 0, batches = 0;
  for (const Occurrence& event : FirstProcess(trace.Events())) {
    if (event.event == Event::kFetched) fetched += event.count;
  }
  for (const ThingId loader : trace.ThingsOfKind("loader")) {
    const double samples = NumberOf(trace.Attribute(loader, "samples"));
    const double batch_size = NumberOf(trace.Attribute(loader, "batch_size"));
    if (samples <= 0 || batch_size <= 0) return 0;
    batches += std::ceil(samples / batch_size);
  }
  return batches > 0 ? fetched / batches : 0;
}

NamedSite ReadingOf(const Trace& trace) {
  for (const ThingId thing : trace.ThingsWith(Quantity::kHostReads)) {
    for (const Sample& sample : FirstProcess(trace.Series(Quantity::kHostReads, thing))) {
      if (sample.site != 0) return trace.site(sample.site);
    }
  }
  return {};
}

}  // namespace

absl::StatusOr<StepCosts> StepCosts::From(const Run& run) {
  const Trace& trace = run.trace;
  StepCosts costs;
  costs.time = CostsOf(trace, Quantity::kStepTime);
  costs.undisturbed = UndisturbedOf(trace, costs.time);
  costs.wait = CostsOf(trace, Quantity::kLoaderWait);
  costs.peak = CostsOf(trace, Quantity::kMemory);
  costs.resident = CostsOf(trace, Quantity::kResidentMemory);
  costs.reads = CostsOf(trace, Quantity::kHostReads);
  costs.idle = CostsOf(trace, Quantity::kDeviceIdle);
  if (costs.time.empty() && costs.idle.empty() && costs.peak.empty() && costs.resident.empty()) {
    return absl::NotFoundError("no step time or memory was recorded");
  }
  costs.reading = ReadingOf(trace);
  costs.passes = PassesOf(trace);
  return costs;
}

std::vector<double> ValuesOf(const StepCosts::Costs& costs, size_t begin, size_t end) {
  std::vector<double> values;
  for (size_t i = begin; i < end; ++i) values.push_back(costs[i].value);
  return values;
}

std::vector<double> LeastOfParts(const StepCosts::Costs& costs, size_t begin) {
  std::vector<double> least;
  const size_t count = costs.size() - begin;
  for (size_t part = 0; part < kParts; ++part) {
    const size_t from = begin + part * count / kParts;
    const size_t to = begin + (part + 1) * count / kParts;
    least.push_back(std::ranges::min(ValuesOf(costs, from, to)));
  }
  return least;
}

}  // namespace dlcheck

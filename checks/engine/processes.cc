#include "checks/engine/processes.h"

#include <algorithm>
#include <limits>
#include <map>

#include "checks/engine/text.h"
#include "checks/engine/whole.h"

namespace dlcheck {
namespace {

using Numbers = std::map<uint16_t, std::vector<double>>;

Numbers NumbersOf(const Trace& trace, Quantity quantity) {
  Numbers numbers;
  for (const ThingId thing : trace.ThingsWith(quantity)) {
    for (const Sample& sample : trace.Series(quantity, thing)) {
      numbers[sample.rank].push_back(sample.value);
    }
  }
  return numbers;
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// The loss of the last backward call that has one.
std::map<uint16_t, Sample> LastLosses(const Trace& trace) {
  std::map<uint16_t, Sample> last;
  for (const ThingId thing : trace.ThingsWith(Quantity::kLoss)) {
    for (const Sample& sample : trace.Series(Quantity::kLoss, thing)) {
      const auto [known, is_new] = last.emplace(sample.rank, sample);
      if (!is_new && sample.order > known->second.order) known->second = sample;
    }
  }
  return last;
}

}  // namespace

std::string EndOf(const Trace& trace, uint16_t rank) {
  for (const ThingId thing : trace.ThingsOfKind("process")) {
    if (trace.thing(thing).name == StrCat(rank))
      return std::string(trace.Attribute(thing, "ended"));
  }
  return "";
}

std::vector<ProcessSummary> ProcessesIn(const Trace& trace) {
  std::map<uint16_t, ProcessSummary> found;
  Numbers batches;
  for (const Occurrence& event : trace.Events()) {
    if (event.event == Event::kStep) found[event.rank].steps += Whole(event.count);
    if (event.event == Event::kBackward) found[event.rank].rank = event.rank;
    if (event.event == Event::kUsed && !event.gap) batches[event.rank].push_back(event.value);
  }
  if (found.size() < 2) return {};
  Numbers steps = NumbersOf(trace, Quantity::kStepTime);
  Numbers own = NumbersOf(trace, Quantity::kOwnTime);
  const std::map<uint16_t, Sample> losses = LastLosses(trace);
  std::vector<ProcessSummary> processes;
  for (auto& [rank, process] : found) {
    const auto loss = losses.find(rank);
    process.rank = rank;
    process.last_loss =
        loss == losses.end() ? std::numeric_limits<double>::quiet_NaN() : loss->second.value;
    process.batch = Median(batches[rank]);
    process.step_seconds = Median(steps[rank]);
    process.own_seconds = Median(own[rank]);
    process.ended = EndOf(trace, rank);
    processes.push_back(process);
  }
  return processes;
}

}  // namespace dlcheck

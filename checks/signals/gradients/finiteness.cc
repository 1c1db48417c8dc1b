#include "checks/signals/gradients/finiteness.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "checks/engine/text.h"

namespace dlcheck {
namespace {

using List = std::vector<Finiteness::Seen> Finiteness::Step::*;

constexpr std::pair<Quantity, List> kLists[] = {
    {Quantity::kLoss, &Finiteness::Step::losses},
    {Quantity::kGradientNorm, &Finiteness::Step::gradients},
    {Quantity::kWeightNorm, &Finiteness::Step::weights},
    {Quantity::kInputNorm, &Finiteness::Step::inputs},
};

// A norm overflows where its elements need not, so the count of elements decides where there is
// one.
bool IsNonFinite(Quantity quantity, const Sample& sample) {
  if (quantity == Quantity::kLoss) return !std::isfinite(sample.value);
  return sample.aux > 0;
}

// A parameter that is not trained may hold a mask of infinities.
bool IsFixed(const Trace& trace, ThingId parameter) {
  return trace.Attribute(parameter, "requires_grad") == "0";
}

bool HasRanks(const Trace& trace) {
  return std::ranges::any_of(trace.Events(),
                             [](const Occurrence& event) { return event.rank > 0; });
}

// Gradients are shared and weights alike: what one process has of them, all have.
void NameRank(Quantity quantity, uint16_t rank, Finiteness::Seen& seen) {
  if (quantity == Quantity::kLoss || quantity == Quantity::kInputNorm) {
    StrAppend(&seen.name, " of rank ", rank);
  }
}

bool IsIn(const std::vector<Finiteness::Seen>& list, const Finiteness::Seen& seen) {
  return std::ranges::find(list, seen.name, &Finiteness::Seen::name) != list.end();
}

// Steps that left the weights alone: they consumed nothing.
std::set<int64_t> StepsLeftOut(const Trace& trace) {
  std::set<int64_t> steps;
  for (const Occurrence& event : trace.Events()) {
    if (event.event == Event::kSkipped && !event.gap) steps.insert(event.step);
  }
  return steps;
}

Finiteness::Birth BirthIn(const Trace& trace) {
  Finiteness::Birth birth;
  for (const ThingId thing : trace.ThingsOfKind("loss")) {
    const auto attribute = [&](std::string_view key) {
      return std::string(trace.Attribute(thing, key));
    };
    const auto number = [&](std::string_view key, double& value) {
      return absl::SimpleAtod(attribute(key), &value);
    };
    double step = 0, distance = 0;
    if (!number("born_step", step) || !number("born_distance", distance)) continue;
    if (birth.step >= 0 && birth.step <= step) continue;
    birth = {.step = static_cast<int64_t>(step),
             .of = attribute("born_of"),
             .name = attribute("born_name"),
             .distance = static_cast<int64_t>(distance),
             .of_nothing = attribute("born_elements") == "0",
             .file = ""};
    birth.has_range = number("born_low", birth.low) && number("born_high", birth.high);
    double line = 0;
    if (number("born_line", line)) {
      birth.file = attribute("born_file");
      birth.line = static_cast<int>(line);
    }
  }
  return birth;
}

}  // namespace

absl::StatusOr<Finiteness> Finiteness::From(const Run& run) {
  const Trace& trace = run.trace;
  Finiteness finiteness;
  const std::set<int64_t> left_out = StepsLeftOut(trace);
  std::map<int64_t, Step> steps;
  const bool has_ranks = HasRanks(trace);
  // Inputs come last: an infinite mask, or a NaN that stands for a missing value, is nobody's fault
  // unless something that is trained or minimized is not finite in the same step.
  for (const auto& [quantity, list] : kLists) {
    for (const ThingId thing : trace.ThingsWith(quantity)) {
      for (const Sample& sample : trace.Series(quantity, thing)) {
        ++finiteness.values_judged;
        if (!IsNonFinite(quantity, sample)) continue;
        if (quantity == Quantity::kGradientNorm && left_out.contains(sample.step)) continue;
        if (quantity == Quantity::kWeightNorm && IsFixed(trace, thing)) continue;
        if (quantity == Quantity::kInputNorm && !steps.contains(sample.step)) continue;
        Step& step = steps[sample.step];
        step.step = sample.step;
        Seen seen{trace.Display(thing), quantity == Quantity::kLoss ? 0 : sample.aux};
        if (has_ranks) NameRank(quantity, sample.rank, seen);
        if (!has_ranks || !IsIn(step.*list, seen)) (step.*list).push_back(std::move(seen));
      }
    }
  }
  if (finiteness.values_judged == 0) {
    return absl::NotFoundError("no loss, gradient or weight was observed");
  }
  for (const Occurrence& event : trace.Events()) {
    if (event.event == Event::kUnscale) finiteness.scaled = true;
  }
  finiteness.birth = BirthIn(trace);
  finiteness.steps_with = static_cast<int64_t>(steps.size());
  if (!steps.empty()) finiteness.first = steps.begin()->second;
  for (const auto& [number, step] : steps) {
    if (step.gradients.empty() && step.weights.empty()) continue;
    finiteness.first_in_training = step;
    break;
  }
  return finiteness;
}

}  // namespace dlcheck

#include "checks/signals/zero_rate_steps.h"

#include <algorithm>
#include <span>

#include "checks/engine/text.h"
#include "checks/signals/first_process.h"
#include "checks/signals/ownership.h"

namespace dlcheck {
namespace {

constexpr double kAlongItself = 0.99;  // cosine: no noise has it

int GrowthOf(std::span<const Sample> directions) {
  const auto along = [&](int sign) {
    return std::all_of(directions.begin(), directions.end(), [&](const Sample& direction) {
      return sign * direction.value > kAlongItself;
    });
  };
  return along(1) ? 1 : along(-1) ? -1 : 0;
}

ZeroRateSteps::Parameter ParameterOf(const Trace& trace, ThingId id) {
  const auto changes = FirstProcess(trace.Series(Quantity::kUnscaledChange, id));
  const auto smallest =
      std::min_element(changes.begin(), changes.end(),
                       [](const Sample& a, const Sample& b) { return a.value < b.value; });
  return {.name = trace.Display(id),
          .resolution = smallest->aux,
          .steps = static_cast<int64_t>(changes.size()),
          .smallest = smallest->value,
          .growth = GrowthOf(FirstProcess(trace.Series(Quantity::kUnscaledDirection, id)))};
}

absl::Status Untried(const Trace& trace) {
  for (const ThingId id : trace.ThingsOfKind("optimizer")) {
    const std::string_view reason = trace.Attribute(id, "untried/zero_rate");
    if (!reason.empty()) return absl::FailedPreconditionError(StrCat(reason));
  }
  return absl::NotFoundError("no optimizer made enough steps at a rate of 0");
}

}  // namespace

absl::StatusOr<ZeroRateSteps> ZeroRateSteps::From(const Run& run) {
  const Trace& trace = run.trace;
  ZeroRateSteps found;
  for (const ThingId id : trace.ThingsWith(Quantity::kRestedParameters)) {
    const int ordinal = trace.thing(id).ordinal;
    Optimizer& optimizer = found.optimizers[ordinal];
    optimizer.name = StrCat("optimizer#", ordinal);
    optimizer.between_steps = !trace.Attribute(id, "changed_between_steps").empty();
    for (const Sample& sample : FirstProcess(trace.Series(Quantity::kRestedParameters, id))) {
      optimizer.steps.push_back(sample.step);
      optimizer.compared = sample.value;
      optimizer.drawn += sample.aux == 0 ? 0 : 1;
    }
  }
  for (const ThingId id : trace.ThingsWith(Quantity::kUnscaledChange)) {
    const int ordinal = OptimizerOrdinal(trace.Attribute(id, "optimizer"));
    const auto owner = found.optimizers.find(ordinal);
    if (owner != found.optimizers.end()) owner->second.moved.push_back(ParameterOf(trace, id));
  }
  if (found.optimizers.empty()) return Untried(trace);
  return found;
}

}  // namespace dlcheck

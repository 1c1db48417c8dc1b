#include "checks/signals/zero_rate_steps.h"

#include <utility>

#include "checks/engine/text.h"
#include "checks/signals/first_process.h"
#include "checks/signals/ownership.h"

namespace dlcheck {
namespace {

ZeroRateSteps::Parameter ParameterOf(const Trace& trace, ThingId id) {
  ZeroRateSteps::Parameter parameter{.name = trace.Display(id), .changes = {}};
  const auto directions = FirstProcess(trace.Series(Quantity::kUnscaledDirection, id));
  size_t place = 0;
  for (const Sample& sample : FirstProcess(trace.Series(Quantity::kUnscaledChange, id))) {
    const double direction = place < directions.size() ? directions[place++].value : 0;
    parameter.resolution = sample.aux;
    parameter.changes.push_back(
        {.step = sample.step, .share = sample.value, .direction = direction});
  }
  return parameter;
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

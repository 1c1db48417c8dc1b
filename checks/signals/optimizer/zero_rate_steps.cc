#include "checks/signals/optimizer/zero_rate_steps.h"

#include <algorithm>
#include <span>
#include <utility>

#include "checks/engine/text.h"
#include "checks/signals/run/first_process.h"

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

// Those of one optimizer: others may step the same parameter.
std::vector<Sample> OwnedBy(std::span<const Sample> samples, ThingId optimizer) {
  std::vector<Sample> own;
  for (const Sample& sample : FirstProcess(samples)) {
    if (sample.owner == optimizer) own.push_back(sample);
  }
  return own;
}

void AddMoved(const Trace& trace, ThingId owner, ZeroRateSteps::Optimizer& optimizer) {
  for (const ThingId id : trace.ThingsWith(Quantity::kUnscaledChange)) {
    const std::vector<Sample> changes = OwnedBy(trace.Series(Quantity::kUnscaledChange, id), owner);
    const std::vector<Sample> directions =
        OwnedBy(trace.Series(Quantity::kUnscaledDirection, id), owner);
    if (changes.empty()) continue;
    ZeroRateSteps::Parameter parameter{.name = trace.Display(id),
                                       .resolution = changes.front().aux,
                                       .steps = {},
                                       .smallest = changes.front().value,
                                       .growth = GrowthOf(directions)};
    for (const Sample& change : changes) {
      parameter.steps.insert(change.step);
      parameter.smallest = std::min(parameter.smallest, change.value);
    }
    parameter.between = std::any_of(directions.begin(), directions.end(),
                                    [](const Sample& direction) { return direction.aux != 0; });
    optimizer.moved.push_back(std::move(parameter));
  }
}

}  // namespace

absl::StatusOr<ZeroRateSteps> ZeroRateSteps::From(const Run& run) {
  const Trace& trace = run.trace;
  ZeroRateSteps found;
  std::string_view untried;
  for (const ThingId id : trace.ThingsOfKind("optimizer")) {
    const std::string_view reason = trace.Attribute(id, "untried/zero_rate");
    if (!reason.empty()) untried = reason;
    const auto rested = FirstProcess(trace.Series(Quantity::kRestedParameters, id));
    if (!reason.empty() || rested.empty()) continue;
    const int ordinal = trace.thing(id).ordinal;
    Optimizer& optimizer = found.optimizers[ordinal];
    optimizer.name = StrCat("optimizer#", ordinal);
    for (const Sample& sample : rested) optimizer.steps.push_back(sample.step);
    optimizer.compared = rested.back().value;
    const auto unread = FirstProcess(trace.Series(Quantity::kUnreadRate, id));
    optimizer.unread = !unread.empty() && unread.front().value != 0;
    AddMoved(trace, id, optimizer);
  }
  if (!found.optimizers.empty()) return found;
  if (!untried.empty()) return absl::FailedPreconditionError(StrCat(untried));
  return absl::NotFoundError("no optimizer made enough steps at learning rate 0");
}

}  // namespace dlcheck

#include "checks/signals/precision/autocast.h"

#include <algorithm>

#include "checks/signals/run/step_order.h"

namespace dlcheck {

bool Autocast::IsUsed() const {
  return declared == "bf16" || declared == "fp16" ||
         std::ranges::any_of(products, [](const Products& one) { return one.low_share > 0; });
}

absl::StatusOr<Autocast> Autocast::From(const Run& run) {
  const absl::StatusOr<StepOrder> order = StepOrder::From(run);
  if (!order.ok()) return order.status();
  Autocast autocast;
  autocast.declared = std::string(run.trace.ProcessAttribute("declared.autocast"));
  for (const ThingId thing : run.trace.ThingsWith(Quantity::kLossScale)) {
    for (const Sample& sample : run.trace.Series(Quantity::kLossScale, thing)) {
      if (sample.value > 1) autocast.scales_losses = true;
    }
  }
  autocast.steps = static_cast<int64_t>(order->steps.size());
  for (const StepOrder::Step& step : order->steps) {
    if (step.Count(Event::kAutocastStep) > 0) autocast.steps_inside.push_back(step.step);
  }
  for (const ThingId thing : run.trace.ThingsWith(Quantity::kLowPrecisionShare)) {
    for (const Sample& sample : run.trace.Series(Quantity::kLowPrecisionShare, thing)) {
      if (sample.aux > 0) autocast.products.push_back({sample.step, sample.value, sample.aux});
    }
  }
  std::ranges::sort(autocast.products, {}, &Products::step);
  return autocast;
}

}  // namespace dlcheck

#include "checks/signals/precision/loss_scaling.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/numbers.h"
#include "checks/signals/run/step_order.h"

namespace dlcheck {
namespace {

std::map<int64_t, double> ScalesOf(const Trace& trace) {
  std::map<int64_t, double> scales;
  for (const ThingId thing : trace.ThingsWith(Quantity::kLossScale)) {
    for (const Sample& sample : trace.Series(Quantity::kLossScale, thing)) {
      if (sample.rank == 0) scales.emplace(sample.step, sample.value);
    }
  }
  return scales;
}

std::set<int64_t> OverflowedSteps(const Trace& trace) {
  std::set<int64_t> steps;
  for (const ThingId thing : trace.ThingsWith(Quantity::kGradientNorm)) {
    for (const Sample& sample : trace.Series(Quantity::kGradientNorm, thing)) {
      if (sample.aux > 0) steps.insert(sample.step);
    }
  }
  return steps;
}

double ScaleAt(const std::map<int64_t, double>& scales, int64_t step) {
  const auto found = scales.find(step);
  return found == scales.end() ? 0 : found->second;
}

// With several optimizers under one scaler it is their next turn that shows what it decided, and
// only if all steps until then are known.
double NextScale(const StepOrder& order, size_t i, const std::map<int64_t, double>& scales) {
  const StepOrder::Step& now = order.steps[i];
  if (order.has_one_optimizer()) return ScaleAt(scales, now.step + 1);
  for (size_t next = i + 1; next < order.steps.size(); ++next) {
    if (order.steps[next].step != order.steps[next - 1].step + 1) return 0;
    if (order.steps[next].optimizer == now.optimizer) {
      return ScaleAt(scales, order.steps[next].step);
    }
  }
  return 0;
}

// How often the scale fell after a step of the range.
double Falls(const std::map<int64_t, double>& scales, int64_t first, int64_t last) {
  double falls = 0;
  for (auto at = scales.lower_bound(first); at != scales.end() && at->first <= last; ++at) {
    const double next = ScaleAt(scales, at->first + 1);
    if (next > 0 && next < at->second) ++falls;
  }
  return falls;
}

}  // namespace

bool LossScaling::IsUnclear(int64_t step) const {
  return std::ranges::any_of(
      unclear, [step](const auto& range) { return range.first <= step && step <= range.second; });
}

bool LossScaling::Grows() const {
  return std::ranges::any_of(
      scale, [this](const auto& at) { return ScaleAt(scale, at.first + 1) > at.second; });
}

absl::StatusOr<LossScaling> LossScaling::From(const Run& run) {
  const Trace& trace = run.trace;
  const absl::StatusOr<StepOrder> order = StepOrder::From(run);
  if (!order.ok()) return order.status();
  LossScaling scaling;
  scaling.scale = ScalesOf(trace);
  if (scaling.scale.empty()) return absl::FailedPreconditionError("no GradScaler was observed");
  scaling.optimizers = order->optimizers.size();
  const std::string interval(trace.ProcessAttribute("declared.growth-interval"));
  if (!absl::SimpleAtod(interval, &scaling.declared_interval)) scaling.declared_interval = 0;
  const std::set<int64_t> overflowed = OverflowedSteps(trace);
  for (size_t i = 0; i < order->steps.size(); ++i) {
    const StepOrder::Step& step = order->steps[i];
    const double scale = ScaleAt(scaling.scale, step.step);
    if (scale <= 0) continue;
    scaling.steps.push_back({step.step, scale, step.taken, overflowed.contains(step.step),
                             NextScale(*order, i, scaling.scale)});
  }
  for (const Occurrence& event : trace.Events()) {
    if (event.event == Event::kUnscale) scaling.unscales = true;
    const bool explained = event.event == Event::kSkipped &&
                           Falls(scaling.scale, event.step, event.last_step) == event.count;
    if (event.event == Event::kLoaded || (event.event == Event::kSkipped && !explained)) {
      scaling.unclear.emplace_back(event.step, event.last_step);
    }
  }
  for (const int64_t step : overflowed) {
    if (Falls(scaling.scale, step, step) == 0) scaling.unclear.emplace_back(step, step);
  }
  return scaling;
}

}  // namespace dlcheck

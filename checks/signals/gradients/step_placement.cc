#include "checks/signals/gradients/step_placement.h"

#include <cmath>
#include <map>
#include <set>

#include "checks/signals/optimizer/ownership.h"
#include "checks/signals/run/step_order.h"

namespace dlcheck {
namespace {

// What was measured at the one step call of each step of the clock.
struct Measured {
  std::set<int64_t> gradient;   // some consumed gradient was not zero
  std::set<int64_t> gradients;  // some gradient was there at all
  std::set<int64_t> weights;    // weights could be looked at
  std::set<int64_t> moved;

  explicit Measured(const Trace& trace) {
    Collect(trace, Quantity::kGradientNorm, gradients, &gradient);
    Collect(trace, Quantity::kWeightNorm, weights, nullptr);
    std::set<int64_t> updates;
    Collect(trace, Quantity::kUpdateNorm, updates, &moved);
  }

  static void Collect(const Trace& trace, Quantity quantity, std::set<int64_t>& all,
                      std::set<int64_t>* not_zero) {
    for (const ThingId thing : trace.ThingsWith(quantity)) {
      for (const Sample& sample : trace.Series(quantity, thing)) {
        if (sample.rank != 0) continue;
        all.insert(sample.step);
        if (not_zero != nullptr && sample.value != 0) not_zero->insert(sample.step);
      }
    }
  }

  // False too where it cannot be told: an optimizer that takes its gradients from elsewhere moves
  // weights without any.
  bool ConsumedNothing(int64_t step) const {
    if (!weights.contains(step) || gradient.contains(step)) return false;
    return gradients.contains(step) || !moved.contains(step);
  }
};

class Reading {
 public:
  explicit Reading(const Trace& trace)
      : trace_(trace), measured_(trace), models_(ModelsOfOptimizers(trace)) {}

  void Add(const StepOrder::Step& step, const StepOrder::Step* next,
           StepPlacement::Optimizer& optimizer) const {
    ++optimizer.steps;
    // A step that no backward call went before, as the first of a loop may be, says nothing.
    const bool says = step.LastBackward() >= 0 || measured_.gradient.contains(step.step);
    if (says && measured_.weights.contains(step.step)) ++optimizer.measured;
    if (next != nullptr) {
      ++optimizer.placed;
      if (IsBeforeBackward(step, *next)) {
        if (optimizer.before_backward.empty()) optimizer.step_site = step.site;
        optimizer.before_backward.push_back(step.step);
        optimizer.consumed = optimizer.consumed || measured_.gradient.contains(step.step);
      }
    }
    const Occurrence* clearing = ClearingAfterBackward(step);
    if (clearing == nullptr || !measured_.ConsumedNothing(step.step)) return;
    if (optimizer.cleared.empty()) optimizer.clear_site = clearing->site;
    optimizer.cleared.push_back(step.step);
  }

 private:
  bool IsOwn(const StepOrder::Step& step, ThingId thing) const {
    if (thing == 0 || thing == step.optimizer) return true;
    const NamedThing& named = trace_.thing(thing);
    if (named.kind != "model" && named.kind != "module") return false;
    const auto own = models_.find(trace_.thing(step.optimizer).ordinal);
    return own == models_.end() || own->second.contains(named.ordinal);
  }

  bool IsBeforeBackward(const StepOrder::Step& step, const StepOrder::Step& next) const {
    bool forward_open = false;  // a forward of the optimizer's models without a backward since
    for (const Occurrence& event : step.events) {
      if (event.event == Event::kForward && IsOwn(step, event.thing)) forward_open = true;
      if (event.event == Event::kBackward) forward_open = false;
    }
    if (!forward_open) return false;
    return next.FirstBackward() < next.end() && next.FirstBackward() < next.First(Event::kForward);
  }

  // Null if there is none.
  const Occurrence* ClearingAfterBackward(const StepOrder::Step& step) const {
    const int64_t backward = step.LastBackward();
    if (backward < 0) return nullptr;
    for (int64_t i = backward + 1; i < step.end(); ++i) {
      const Occurrence& event = step.events[static_cast<size_t>(i)];
      if (event.event == Event::kCleared && IsOwn(step, event.thing)) return &event;
    }
    return nullptr;
  }

  const Trace& trace_;
  Measured measured_;
  std::map<int, std::set<int>> models_;
};

}  // namespace

absl::StatusOr<StepPlacement> StepPlacement::From(const Run& run) {
  const absl::StatusOr<StepOrder> order = StepOrder::From(run);
  if (!order.ok()) return order.status();
  StepPlacement placement;
  placement.trace = &run.trace;
  for (const Occurrence& event : run.trace.Events()) {
    if (event.event == Event::kForward) placement.forward_seen = true;
    if (event.event == Event::kBackward) placement.backward_seen = true;
  }
  const Reading reading(run.trace);
  std::map<ThingId, size_t> places;
  for (size_t i = 0; i < order->steps.size(); ++i) {
    const StepOrder::Step& step = order->steps[i];
    const auto [place, fresh] = places.try_emplace(step.optimizer, placement.optimizers.size());
    if (fresh) {
      placement.optimizers.push_back(
          {.name = run.trace.Display(step.optimizer), .before_backward = {}, .cleared = {}});
    }
    const bool next_is_known =
        i + 1 < order->steps.size() && order->steps[i + 1].step == step.step + 1;
    reading.Add(step, next_is_known ? &order->steps[i + 1] : nullptr,
                placement.optimizers[place->second]);
  }
  return placement;
}

}  // namespace dlcheck

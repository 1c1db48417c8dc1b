#include "checks/signals/run/step_order.h"

#include <utility>

namespace dlcheck {

int64_t StepOrder::Step::First(Event event) const {
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i].event == event) return static_cast<int64_t>(i);
  }
  return end();
}

int64_t StepOrder::Step::FirstBackward() const { return First(Event::kBackward); }

int64_t StepOrder::Step::LastBackward() const {
  for (size_t i = events.size(); i > 0; --i) {
    if (events[i - 1].event == Event::kBackward) return static_cast<int64_t>(i) - 1;
  }
  return -1;
}

int64_t StepOrder::Step::Count(Event event) const {
  return static_cast<int64_t>(Within(event, 0, end()).size());
}

std::vector<Occurrence> StepOrder::Step::Within(Event event, int64_t begin, int64_t end) const {
  std::vector<Occurrence> found;
  for (int64_t i = begin; i < end; ++i) {
    const Occurrence& occurrence = events[static_cast<size_t>(i)];
    if (occurrence.event == event) found.push_back(occurrence);
  }
  return found;
}

bool StepOrder::has_one_at_a_time() const {
  std::set<ThingId> left;
  for (size_t i = 1; i < steps.size(); ++i) {
    if (steps[i].optimizer == steps[i - 1].optimizer) continue;
    left.insert(steps[i - 1].optimizer);
    if (left.contains(steps[i].optimizer)) return false;
  }
  return true;
}

absl::StatusOr<StepOrder> StepOrder::From(const Run& run) {
  StepOrder order{.steps = {}, .optimizers = {}, .trace = &run.trace};
  Step step;
  bool ended = false;
  const auto keep = [&] {
    if (ended) order.steps.push_back(std::move(step));
    step = Step();
    ended = false;
  };
  for (const Occurrence& event : run.trace.Events()) {
    if (event.gap || event.rank != 0) continue;
    if (event.step != step.step) keep();
    step.step = event.step;
    // A probe writes either or both for a step that was left out.
    if (event.event == Event::kSkipped) step.taken = false;
    if (event.event == Event::kSkipped || event.event == Event::kStep) {
      ended = true;
      step.optimizer = event.thing;
      step.site = event.site;
      order.optimizers.insert(event.thing);
    } else if (!ended) {  // what is written later was read late, from an accelerator
      step.events.push_back(event);
    }
  }
  keep();
  if (order.steps.empty()) return absl::NotFoundError("no optimizer step was observed");
  return order;
}

}  // namespace dlcheck

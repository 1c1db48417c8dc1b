#include "checks/signals/evaluations.h"

#include <optional>

#include "checks/signals/first_process.h"

namespace dlcheck {
namespace {

using Evaluation = Evaluations::Evaluation;

struct Bounds {
  uint64_t begin, end;  // orders
};

// Whether a digest taken within the bounds differs from the first one there; none if there are not
// two.
std::optional<bool> Changed(const Trace& trace, Quantity quantity, const Bounds& bounds) {
  std::optional<bool> changed;
  for (const ThingId model : trace.ThingsWith(quantity)) {
    const Sample* first = nullptr;
    const Sample* last = nullptr;
    for (const Sample& sample : FirstProcess(trace.Series(quantity, model))) {
      if (sample.order < bounds.begin || sample.order > bounds.end) continue;
      if (first == nullptr) first = &sample;
      last = &sample;
    }
    if (first == last) continue;
    const bool differs = first->value != last->value || first->aux != last->aux;
    changed = changed.value_or(false) || differs;
  }
  return changed;
}

void Compare(const Trace& trace, const Bounds& bounds, Evaluation& evaluation) {
  const std::optional<bool> model = Changed(trace, Quantity::kModelDigest, bounds);
  if (!model) return;
  evaluation.compared = true;
  evaluation.model_changed = *model;
  evaluation.random_changed = Changed(trace, Quantity::kRandomDigest, bounds).value_or(false);
}

}  // namespace

absl::StatusOr<Evaluations> Evaluations::From(const Run& run) {
  const Trace& trace = run.trace;
  Evaluations evaluations;
  Evaluation open;
  std::optional<Occurrence> began;
  for (const Occurrence& event : FirstProcess(trace.Events())) {
    if (event.gap) continue;
    if (event.event == Event::kEvaluationBegan) {
      open = {};
      began = event;
    } else if (event.event == Event::kEvaluationForward) {
      ++open.batches;
      if (event.value != 0) ++open.in_training_mode;
    } else if (event.event == Event::kEvaluated) {
      open.step = event.step;
      if (began && began->step == event.step) Compare(trace, {began->order, event.order}, open);
      evaluations.evaluations.push_back(open);
      open = {};
      began.reset();
    }
  }
  if (evaluations.evaluations.empty()) return absl::NotFoundError("no evaluation was seen");
  for (const ThingId module : trace.ThingsOfKind("module")) {
    if (trace.Attribute(module, "mode_dependent") == "1") evaluations.mode_dependent = true;
  }
  return evaluations;
}

}  // namespace dlcheck

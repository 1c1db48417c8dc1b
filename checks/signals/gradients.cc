#include "checks/signals/gradients.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "checks/engine/text.h"

namespace dlcheck {
namespace {

// Modules that ran in training mode, as (model ordinal, name).
std::set<std::pair<int, std::string>> ModulesTrained(const Trace& trace) {
  std::set<std::pair<int, std::string>> modules;
  for (const Occurrence& event : trace.Events()) {
    if (event.event != Event::kForward || event.gap || event.value == 0) continue;
    const NamedThing& thing = trace.thing(event.thing);
    modules.emplace(thing.ordinal, thing.name);
  }
  return modules;
}

}  // namespace

absl::StatusOr<Gradients> Gradients::From(const Run& run) {
  const Trace& trace = run.trace;
  Gradients gradients;
  for (const Occurrence& event : trace.Events()) {
    if (event.event == Event::kBackward) gradients.backward_seen = true;
    if (event.event == Event::kStep && !event.gap) gradients.steps.push_back(event.step);
  }
  if (gradients.steps.empty()) return absl::NotFoundError("no optimizer step was seen");
  const auto modules = ModulesTrained(trace);
  for (const ThingId id : trace.ThingsOfKind("parameter")) {
    Parameter parameter;
    parameter.name = trace.Display(id);
    parameter.optimizer = std::string(trace.Attribute(id, "optimizer"));
    parameter.shape = std::string(trace.Attribute(id, "shape"));
    parameter.model = trace.thing(id).ordinal;
    (void)absl::SimpleAtod(std::string(trace.Attribute(id, "elements")), &parameter.elements);
    parameter.requires_grad = trace.Attribute(id, "requires_grad") != "0";
    parameter.orphan = trace.Attribute(id, "orphan") == "1";
    parameter.module_ran =
        modules.contains({parameter.model, std::string(trace.Attribute(id, "module"))});
    parameter.consumed = trace.Series(Quantity::kGradientNorm, id);
    parameter.held = trace.Series(Quantity::kHeldGradientNorm, id);
    parameter.weight = trace.Series(Quantity::kWeightNorm, id);
    parameter.gradient_seen =
        !parameter.consumed.empty() || trace.Attribute(id, "gradient_seen") == "1";
    gradients.parameters.push_back(std::move(parameter));
  }
  return gradients;
}

std::string JudgedParameters(int64_t judged, const Gradients& gradients) {
  return StrCat(judged, " of ",
                Counted(static_cast<int64_t>(gradients.parameters.size()), "parameter"), ", ",
                Counted(static_cast<int64_t>(gradients.steps.size()), "sampled step"));
}

}  // namespace dlcheck

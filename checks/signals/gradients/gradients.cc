#include "checks/signals/gradients/gradients.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "checks/engine/text.h"
#include "checks/signals/optimizer/ownership.h"

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

// Sampled steps by ordinal of the optimizer, ascending.
std::map<int, std::vector<int64_t>> StepsByOptimizer(const Trace& trace) {
  std::map<int, std::vector<int64_t>> steps;
  for (const Occurrence& event : trace.Events()) {
    if (event.event != Event::kStep || event.gap) continue;
    // What gradients a step works out and uses up inside itself, nobody sees.
    if (trace.Attribute(event.thing, "inner_backward") == "1") continue;
    steps[trace.thing(event.thing).ordinal].push_back(event.step);
  }
  return steps;
}

void CountSteps(const std::vector<int64_t>& steps, Gradients::Parameter& parameter) {
  for (const Sample& sample : parameter.consumed) {
    parameter.last_gradient = std::max(parameter.last_gradient, sample.step);
    if (sample.value != 0) parameter.last_nonzero = std::max(parameter.last_nonzero, sample.step);
  }
  parameter.optimizer_steps = static_cast<int64_t>(steps.size());
  if (!steps.empty()) parameter.last_step = steps.back();
  const auto after = [&](int64_t last) {
    return std::ranges::count_if(steps, [last](int64_t step) { return step > last; });
  };
  parameter.steps_without = after(parameter.last_gradient);
  parameter.steps_of_zeros = after(parameter.last_nonzero);
}

// Marks the parameters whose module ran before that of any other optimized parameter of their
// model.
void MarkFirstToRun(const Trace& trace, Gradients& gradients,
                    const std::vector<std::string>& modules) {
  std::map<std::pair<int, std::string>, std::vector<size_t>> owned;
  for (size_t i = 0; i < modules.size(); ++i) {
    const Gradients::Parameter& parameter = gradients.parameters[i];
    if (parameter.optimizer.empty() || !parameter.requires_grad) continue;
    owned[{parameter.model, modules[i]}].push_back(i);
  }
  std::set<int> done;
  for (const Occurrence& event : trace.Events()) {
    if (event.event != Event::kForward || event.gap || event.value == 0) continue;
    const NamedThing& module = trace.thing(event.thing);
    const auto found = owned.find({module.ordinal, module.name});
    if (found == owned.end() || !done.insert(module.ordinal).second) continue;
    for (const size_t i : found->second) gradients.parameters[i].first_to_run = true;
  }
}

}  // namespace

absl::StatusOr<Gradients> Gradients::From(const Run& run) {
  const Trace& trace = run.trace;
  Gradients gradients;
  for (const Occurrence& event : trace.Events()) {
    if (event.event == Event::kBackward) gradients.backward_seen = true;
    if (event.event == Event::kStep && !event.gap) gradients.steps.push_back(event.step);
  }
  if (gradients.steps.empty()) return absl::NotFoundError("no optimizer step was observed");
  const auto modules = ModulesTrained(trace);
  const std::map<int, std::vector<int64_t>> steps = StepsByOptimizer(trace);
  std::set<int> parts;
  for (const ThingId id : trace.ThingsOfKind("model")) {
    if (trace.Attribute(id, "part_of_trained") == "1") parts.insert(trace.thing(id).ordinal);
  }
  std::vector<std::string> module_names;
  for (const ThingId id : trace.ThingsOfKind("parameter")) {
    Parameter parameter;
    parameter.name = trace.Display(id);
    parameter.optimizer = std::string(trace.Attribute(id, "optimizer"));
    parameter.shape = std::string(trace.Attribute(id, "shape"));
    parameter.model = trace.thing(id).ordinal;
    parameter.part_of_trained = parts.contains(parameter.model);
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
    const auto own = steps.find(OptimizerOrdinal(parameter.optimizer));
    if (own != steps.end()) CountSteps(own->second, parameter);
    module_names.emplace_back(trace.Attribute(id, "module"));
    gradients.parameters.push_back(std::move(parameter));
  }
  MarkFirstToRun(trace, gradients, module_names);
  return gradients;
}

std::string JudgedParameters(int64_t judged, const Gradients& gradients) {
  return StrCat(judged, " of ",
                Counted(static_cast<int64_t>(gradients.parameters.size()), "parameter"), ", ",
                Counted(static_cast<int64_t>(gradients.steps.size()), "sampled step"));
}

}  // namespace dlcheck

#include "checks/signals/training_modes.h"

#include <map>
#include <set>
#include <utility>

#include "checks/signals/first_process.h"

namespace dlcheck {
namespace {

// The forwards of one model in one step that was taken.
struct StepForwards {
  std::set<std::string> training, evaluation;        // modules
  uint64_t last_training = 0, first_evaluation = 0;  // orders
};
using StepsOfModels = std::map<int, std::map<int64_t, StepForwards>>;

StepsOfModels ForwardsByModel(const Trace& trace) {
  StepsOfModels models;
  std::set<int64_t> taken;
  for (const Occurrence& event : FirstProcess(trace.Events())) {
    if (event.gap) continue;
    if (event.event == Event::kStep) taken.insert(event.step);
    if (event.event != Event::kForward) continue;
    const NamedThing& module = trace.thing(event.thing);
    StepForwards& forwards = models[module.ordinal][event.step];
    if (event.value != 0) {
      forwards.training.insert(module.name);
      forwards.last_training = event.order;
    } else {
      if (forwards.evaluation.empty()) forwards.first_evaluation = event.order;
      forwards.evaluation.insert(module.name);
    }
  }
  for (auto& [ordinal, steps] : models) {
    std::erase_if(steps, [&](const auto& step) { return !taken.contains(step.first); });
  }
  std::erase_if(models, [](const auto& model) { return model.second.empty(); });
  return models;
}

bool EvaluatedBetween(const Trace& trace, uint64_t after, uint64_t before) {
  for (const Occurrence& event : FirstProcess(trace.Events())) {
    const bool evaluates =
        event.event == Event::kEvaluationBegan || event.event == Event::kEvaluated;
    if (evaluates && event.order > after && event.order < before) return true;
  }
  return false;
}

std::map<int, std::vector<std::string>> ModeDependent(const Trace& trace) {
  std::map<int, std::vector<std::string>> modules;
  for (const ThingId id : trace.ThingsOfKind("module")) {
    if (trace.Attribute(id, "mode_dependent") != "1") continue;
    modules[trace.thing(id).ordinal].push_back(trace.Display(id));
  }
  return modules;
}

TrainingModes::Model Change(const Trace& trace, const std::map<int64_t, StepForwards>& steps) {
  TrainingModes::Model model;
  uint64_t last_training = 0, first_evaluation = 0;
  std::set<std::string> modules;
  for (const auto& [step, forwards] : steps) {
    if (!forwards.training.empty()) {
      model = {};
      modules.clear();
      model.last_training = step;
      last_training = forwards.last_training;
      continue;
    }
    if (model.steps_after++ == 0) {
      model.first_evaluation = step;
      first_evaluation = forwards.first_evaluation;
    }
    model.last_evaluation = step;
    modules.insert(forwards.evaluation.begin(), forwards.evaluation.end());
  }
  model.modules.assign(modules.begin(), modules.end());
  model.evaluated_between = EvaluatedBetween(trace, last_training, first_evaluation);
  return model;
}

bool EverTrained(const std::map<int64_t, StepForwards>& steps) {
  for (const auto& [step, forwards] : steps) {
    if (!forwards.training.empty()) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<TrainingModes> TrainingModes::From(const Run& run) {
  TrainingModes modes;
  const StepsOfModels models = ForwardsByModel(run.trace);
  if (models.empty()) return absl::NotFoundError("no training forward was seen");
  const std::map<int, std::vector<std::string>> dependent = ModeDependent(run.trace);
  std::set<int64_t> seen;
  for (const auto& [ordinal, steps] : models) {
    const auto own = dependent.find(ordinal);
    if (own == dependent.end()) continue;
    ++modes.models;
    for (const auto& [step, forwards] : steps) seen.insert(step);
    if (!EverTrained(steps)) continue;
    Model model = Change(run.trace, steps);
    model.ordinal = ordinal;
    model.mode_dependent = own->second;
    if (model.steps_after > 0) modes.left.push_back(std::move(model));
  }
  if (modes.models == 0) {
    return absl::FailedPreconditionError("no module was recorded as one that depends on the mode");
  }
  modes.steps = static_cast<int64_t>(seen.size());
  return modes;
}

}  // namespace dlcheck

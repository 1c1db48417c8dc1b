#include "checks/signals/model/training_modes.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "checks/signals/gradients/gradients.h"
#include "checks/signals/optimizer/ownership.h"
#include "checks/signals/run/first_process.h"

namespace dlcheck {
namespace {

// The forwards of one model in one step that was taken.
struct StepForwards {
  int optimizer = 0;                                 // that took the step
  std::set<std::string> training, evaluation;        // modules
  uint64_t last_training = 0, first_evaluation = 0;  // orders
};
using StepsOfModels = std::map<int, std::map<int64_t, StepForwards>>;

// Only steps that an optimizer of the model takes: a teacher that was trained before runs in those
// of its student.
StepsOfModels ForwardsByModel(const Trace& trace) {
  StepsOfModels models;
  std::map<int64_t, int> taken;  // by step: ordinal of its optimizer
  const std::map<int, std::set<int>> models_of = ModelsOfOptimizers(trace);
  for (const Occurrence& event : FirstProcess(trace.Events())) {
    if (event.gap) continue;
    if (event.event == Event::kStep) taken[event.step] = trace.thing(event.thing).ordinal;
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
    std::erase_if(steps, [&](const auto& step) {
      const auto optimizer = taken.find(step.first);
      if (optimizer == taken.end()) return true;
      const auto own = models_of.find(optimizer->second);
      return own != models_of.end() && !own->second.contains(ordinal);
    });
    for (auto& [step, forwards] : steps) forwards.optimizer = taken.at(step);
  }
  std::erase_if(models, [](const auto& model) { return model.second.empty(); });
  return models;
}

// Whether this may have switched the model, or one of its modules, to training mode.
bool IsSwitchOf(const Trace& trace, int ordinal, const Occurrence& event) {
  if (event.event != Event::kMode || event.gap || event.value == 0) return false;
  return event.thing == 0 || trace.thing(event.thing).ordinal == ordinal;
}

// Whether the model, or one of its modules, was switched to training mode after this record.
bool SwitchedAfter(const Trace& trace, int ordinal, uint64_t order) {
  return std::ranges::any_of(FirstProcess(trace.Events()), [&](const Occurrence& event) {
    return IsSwitchOf(trace, ordinal, event) && event.order > order;
  });
}

// Whether a batch went into the model after this record, in the same step. In a sampled step every
// mode that a module runs in is recorded.
bool UsedAfter(const Trace& trace, int ordinal, const Occurrence& record) {
  return std::ranges::any_of(FirstProcess(trace.Events()), [&](const Occurrence& event) {
    return event.event == Event::kUsed && !event.gap && event.step == record.step &&
           event.order > record.order && trace.thing(event.thing).ordinal == ordinal;
  });
}

// Whether forwards that are not recorded may have run in training mode after this record. A switch
// that the forwards after it in its own step show to have been taken back says nothing of others.
bool MayHaveTrainedAfter(const Trace& trace, int ordinal, uint64_t order) {
  return std::ranges::any_of(FirstProcess(trace.Events()), [&](const Occurrence& event) {
    return IsSwitchOf(trace, ordinal, event) && event.order > order &&
           !UsedAfter(trace, ordinal, event);
  });
}

bool EvaluatedBetween(const Trace& trace, uint64_t after, uint64_t before) {
  for (const Occurrence& event : FirstProcess(trace.Events())) {
    const bool evaluates = event.event == Event::kEvaluationBegan ||
                           event.event == Event::kEvaluated ||
                           event.event == Event::kEvaluationEnded;
    if (evaluates && event.order > after && event.order < before) return true;
  }
  return false;
}

// Whether the model was switched to evaluation mode between these records and after the last
// forward of the evaluation between them.
bool SwitchedAgain(const Trace& trace, int ordinal, uint64_t after, uint64_t before) {
  bool switched = false;
  for (const Occurrence& event : FirstProcess(trace.Events())) {
    if (event.gap || event.order <= after || event.order >= before) continue;
    if (event.event == Event::kEvaluationBegan || event.event == Event::kEvaluationForward) {
      switched = false;
    }
    const bool is_switch = event.event == Event::kMode && event.value == 0;
    const bool is_own = event.thing == 0 || trace.thing(event.thing).ordinal == ordinal;
    switched = switched || (is_switch && is_own);
  }
  return switched;
}

std::map<int, std::vector<std::string>> ModeDependent(const Trace& trace) {
  std::map<int, std::vector<std::string>> modules;
  for (const ThingId id : trace.ThingsOfKind("module")) {
    if (trace.Attribute(id, "mode_dependent").empty()) continue;
    modules[trace.thing(id).ordinal].push_back(trace.Display(id));
  }
  return modules;
}

// The line of the last switch of the model to evaluation mode before this record.
Place SwitchBefore(const Trace& trace, int ordinal, uint64_t order) {
  Place place;
  for (const Occurrence& event : FirstProcess(trace.Events())) {
    const bool is_one = event.event == Event::kMode && !event.gap && event.value == 0;
    if (!is_one || event.order > order) continue;
    if (event.thing != 0 && trace.thing(event.thing).ordinal != ordinal) continue;
    const NamedSite& site = trace.site(event.site);
    if (site.line > 0) place = {.thing = "", .file = site.file, .line = site.line};
  }
  return place;
}

// Whether all that depends on the mode in a model is code of the program that reads it.
bool IsOnlyOwn(const Trace& trace, int ordinal) {
  return std::ranges::none_of(trace.ThingsOfKind("module"), [&](ThingId id) {
    return trace.thing(id).ordinal == ordinal && trace.Attribute(id, "mode_dependent") == "1";
  });
}

TrainingModes::Model Change(const Trace& trace, int ordinal,
                            const std::map<int64_t, StepForwards>& steps) {
  TrainingModes::Model model;
  uint64_t last_training = 0, first_evaluation = 0;
  int before = 0, after = 0;  // optimizers
  std::set<std::string> modules;
  for (const auto& [step, forwards] : steps) {
    if (!forwards.training.empty()) {
      model = {};
      modules.clear();
      model.last_training = step;
      last_training = forwards.last_training;
      before = forwards.optimizer;
      continue;
    }
    if (model.steps_after++ == 0) {
      model.first_evaluation = step;
      first_evaluation = forwards.first_evaluation;
      after = forwards.optimizer;
    }
    model.last_evaluation = step;
    modules.insert(forwards.evaluation.begin(), forwards.evaluation.end());
  }
  model.modules.assign(modules.begin(), modules.end());
  model.ordinal = ordinal;
  model.evaluated_between = EvaluatedBetween(trace, last_training, first_evaluation);
  model.may_be_meant =
      before != after || SwitchedAgain(trace, ordinal, last_training, first_evaluation);
  model.only_own = IsOnlyOwn(trace, ordinal);
  model.switched = SwitchBefore(trace, ordinal, first_evaluation);
  // Switched to and fro within steps, as where an attack is made in evaluation mode: only what ran
  // first in a step is recorded.
  if (SwitchedAfter(trace, ordinal, first_evaluation)) model.steps_after = 0;
  return model;
}

bool EverTrained(const std::map<int64_t, StepForwards>& steps) {
  for (const auto& [step, forwards] : steps) {
    if (!forwards.training.empty()) return true;
  }
  return false;
}

// Whether some step consumed a gradient of the model, and how much of it is optimized.
struct Trained {
  bool gradient_seen = false;
  double elements = 0, optimized = 0;
};

std::map<int, Trained> TrainedModels(const Gradients& gradients) {
  std::map<int, Trained> models;
  for (const Gradients::Parameter& parameter : gradients.parameters) {
    if (parameter.orphan) continue;
    Trained& model = models[parameter.model];
    model.elements += parameter.elements;
    if (parameter.optimizer.empty()) continue;
    model.optimized += parameter.elements;
    for (const Sample& sample : parameter.consumed) {
      model.gradient_seen = model.gradient_seen || sample.value != 0;
    }
  }
  return models;
}

TrainingModes::Never NeverTrained(const Trace& trace, int ordinal,
                                  const std::map<int64_t, StepForwards>& steps) {
  TrainingModes::Never never;
  never.first_step = steps.begin()->first;
  never.last_step = steps.rbegin()->first;
  never.steps = static_cast<int64_t>(steps.size());
  std::set<std::string> ran;
  for (const auto& [step, forwards] : steps) {
    ran.insert(forwards.evaluation.begin(), forwards.evaluation.end());
  }
  for (const ThingId id : trace.ThingsOfKind("module")) {
    const NamedThing& module = trace.thing(id);
    const std::string_view depends = trace.Attribute(id, "mode_dependent");
    if (module.ordinal != ordinal || depends.empty()) continue;
    if (!ran.contains(module.name)) continue;
    never.mode_dependent.push_back(trace.Display(id));
    never.only_own &= depends == "own";
    never.only_normalization &= trace.Attribute(id, "role") == "normalization";
  }
  return never;
}

// Adds the model to `modes.never`, if it is trained and something in it depends on the mode.
void AddNever(const Trace& trace, int ordinal, const std::map<int64_t, StepForwards>& steps,
              const std::map<int, Trained>& trained, TrainingModes& modes) {
  const auto own = trained.find(ordinal);
  if (own == trained.end() || !own->second.gradient_seen) return;
  if (MayHaveTrainedAfter(trace, ordinal, steps.begin()->second.first_evaluation)) return;
  TrainingModes::Never never = NeverTrained(trace, ordinal, steps);
  if (never.mode_dependent.empty()) return;
  never.switched = SwitchBefore(trace, ordinal, steps.begin()->second.first_evaluation);
  never.optimized_share = own->second.optimized / own->second.elements;
  modes.never.push_back(std::move(never));
}

}  // namespace

absl::StatusOr<TrainingModes> TrainingModes::From(const Run& run) {
  TrainingModes modes;
  const StepsOfModels models = ForwardsByModel(run.trace);
  if (models.empty()) return absl::NotFoundError("no forward pass in training was observed");
  const std::map<int, std::vector<std::string>> dependent = ModeDependent(run.trace);
  const absl::StatusOr<Gradients> gradients = Gradients::From(run);
  if (!gradients.ok()) return gradients.status();
  const std::map<int, Trained> trained = TrainedModels(*gradients);
  std::set<int64_t> seen;
  for (const auto& [ordinal, steps] : models) {
    const auto own = dependent.find(ordinal);
    if (own == dependent.end()) continue;
    ++modes.models;
    for (const auto& [step, forwards] : steps) seen.insert(step);
    if (!EverTrained(steps)) {
      AddNever(run.trace, ordinal, steps, trained, modes);
      continue;
    }
    Model model = Change(run.trace, ordinal, steps);
    model.mode_dependent = own->second;
    if (model.steps_after > 0) modes.left.push_back(std::move(model));
  }
  if (modes.models == 0) {
    return absl::FailedPreconditionError(
        "no module depends on the training mode (no dropout, no batch norm)");
  }
  modes.steps = static_cast<int64_t>(seen.size());
  modes.state_loaded = std::ranges::any_of(
      run.trace.Events(), [](const Occurrence& event) { return event.event == Event::kLoaded; });
  return modes;
}

}  // namespace dlcheck

#include "checks/signals/checkpoint/loaded_models.h"

#include "checks/signals/run/first_process.h"

namespace dlcheck {
namespace {

struct Parameters {
  double count = 0;
  bool converted = false;
};

Parameters ParametersOf(const Trace& trace, int model) {
  Parameters parameters;
  for (const ThingId id : trace.ThingsOfKind("parameter")) {
    if (trace.thing(id).ordinal != model) continue;
    const std::string_view type = trace.Attribute(id, "dtype");
    ++parameters.count;
    parameters.converted |= !type.empty() && !type.ends_with("float32");
  }
  return parameters;
}

void AddLoads(const Trace& trace, ThingId model, const Parameters& parameters,
              LoadedModels& models) {
  const size_t before = models.loads.size();
  for (const Sample& sample : FirstProcess(trace.Series(Quantity::kLoadedShare, model))) {
    const bool again = models.loads.size() > before && models.loads.back().step == sample.step;
    if (again && models.loads.back().share >= sample.value) continue;
    if (again) models.loads.pop_back();
    models.loads.push_back({.model = trace.Display(model),
                            .step = sample.step,
                            .share = sample.value,
                            .unexpected = sample.aux,
                            .parameters = parameters.count});
  }
}

// A file without a name is an object in memory that was read as one.
bool ReadFile(const Trace& trace) {
  for (const Occurrence& event : FirstProcess(trace.Events())) {
    if (event.event == Event::kStep) return false;
    if (event.event != Event::kLoaded) continue;
    if (event.thing == 0 || trace.thing(event.thing).kind == "file") return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<LoadedModels> LoadedModels::From(const Run& run) {
  const Trace& trace = run.trace;
  LoadedModels models;
  for (const ThingId model : trace.ThingsOfKind("model")) {
    const Parameters parameters = ParametersOf(trace, trace.thing(model).ordinal);
    AddLoads(trace, model, parameters, models);
    for (const Sample& sample : FirstProcess(trace.Series(Quantity::kOverwrittenShare, model))) {
      models.kept.push_back({.model = trace.Display(model),
                             .step = sample.step,
                             .overwritten = sample.value,
                             .compared = sample.aux,
                             .converted = parameters.converted});
    }
  }
  if (models.loads.empty() && models.kept.empty()) {
    return absl::NotFoundError("load_state_dict() was never called on a model");
  }
  models.from_file = ReadFile(trace);
  return models;
}

}  // namespace dlcheck

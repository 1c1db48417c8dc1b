#include "checks/signals/checkpoint/state_files.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_split.h"
#include "checks/engine/whole.h"
#include "checks/signals/run/first_process.h"

namespace dlcheck {
namespace {

StateFiles::Contents ContentsOf(const Trace& trace, ThingId file) {
  const std::string contents(trace.Attribute(file, "contents"));
  StateFiles::Contents words;
  for (const absl::string_view word : absl::StrSplit(contents, ' ', absl::SkipEmpty())) {
    words.emplace(word.data(), word.size());
  }
  return words;
}

// Whether the optimizer has parameters of a model, and none of a model that was fed.
bool HasUntrainedModels(const Trace& trace, ThingId optimizer, const std::set<ThingId>& fed) {
  const std::string group = trace.Display(optimizer) + "/";
  std::set<int> models;
  for (const ThingId parameter : trace.ThingsOfKind("parameter")) {
    if (trace.Attribute(parameter, "optimizer").substr(0, group.size()) != group) continue;
    models.insert(trace.thing(parameter).ordinal);
  }
  return !models.empty() && std::ranges::none_of(fed, [&](ThingId model) {
    return models.contains(trace.thing(model).ordinal);
  });
}

// Into a model, an optimizer and the like; `fed` are the models that trained before.
void AddPutIn(const Trace& trace, const Occurrence& event, const std::set<ThingId>& fed,
              StateFiles& files) {
  const std::string& kind = trace.thing(event.thing).kind;
  files.put_in.insert(kind);
  if (kind == "optimizer" && !files.loads.empty()) {
    files.loads.back().into_untrained = HasUntrainedModels(trace, event.thing, fed);
  }
  for (StateFiles::Load& load : files.loads) {
    load.put_in.insert(kind);
    load.into_trained |= event.step > 0 && load.step == event.step && fed.contains(event.thing);
  }
}

void AddLoad(const Trace& trace, const Occurrence& event, StateFiles& files) {
  const NamedThing& thing = trace.thing(event.thing);
  bool saved_here = false;
  for (const StateFiles::Save& save : files.saves) saved_here |= save.file == thing.name;
  files.loads.push_back({.file = thing.name,
                         .contents = ContentsOf(trace, event.thing),
                         .put_in = {},
                         .step = event.step,
                         .steps_after = 0,
                         .saved_here = saved_here,
                         .stepped = files.stepped});
}

void AddStep(const Trace& trace, const Occurrence& event, StateFiles& files) {
  for (StateFiles::Save& save : files.saves) save.followed = true;
  for (StateFiles::Load& load : files.loads) {
    load.steps_after += Whole(event.count);
    load.keeps_optimizer |= !event.gap && load.stepped.contains(event.thing);
  }
  if (!event.gap) files.stepped.insert(event.thing);
  if (!event.gap && trace.Attribute(event.thing, "stateful") == "1") files.keeps_state = true;
}

void ReadEvents(const Trace& trace, StateFiles& files) {
  std::set<ThingId> fed;
  for (const Occurrence& event : FirstProcess(trace.Events())) {
    if (event.event == Event::kSchedule) files.scheduler_moves = true;
    if (event.event == Event::kUnscale) files.scales = true;
    if (event.event == Event::kStep) AddStep(trace, event, files);
    if (event.event == Event::kSaved && event.gap) files.saves_in_gaps += Whole(event.count);
    // A file object without a name is nothing to judge.
    if (event.gap || event.thing == 0) continue;
    if (event.event == Event::kUsed) fed.insert(event.thing);
    if (event.event == Event::kLoaded && trace.thing(event.thing).kind == "file") {
      AddLoad(trace, event, files);
    } else if (event.event == Event::kLoaded) {
      AddPutIn(trace, event, fed, files);
    }
    if (event.event != Event::kSaved) continue;
    files.saves.push_back({.file = trace.thing(event.thing).name,
                           .contents = ContentsOf(trace, event.thing),
                           .step = event.step,
                           .followed = false});
  }
}

// Teachers and feature extractors are loaded too, and never trained.
bool IsOptimized(const Trace& trace, int model) {
  for (const ThingId parameter : trace.ThingsOfKind("parameter")) {
    if (trace.thing(parameter).ordinal != model) continue;
    if (!trace.Attribute(parameter, "optimizer").empty()) return true;
  }
  return false;
}

}  // namespace

std::string StateFiles::PairOf(std::string_view file, std::string_view kind) const {
  std::map<std::string, std::set<int64_t>, std::less<>> steps;
  std::map<std::string, Contents, std::less<>> contents;
  for (const Save& save : saves) {
    steps[save.file].insert(save.step);
    contents[save.file] = save.contents;
  }
  const auto own = steps.find(file);
  if (own == steps.end() || contents[own->first].contains(kind)) return "";
  for (const auto& [other, when] : steps) {
    const bool was_read = std::ranges::any_of(
        loads, [&other = other](const Load& load) { return load.file == other; });
    if (!was_read && when == own->second && contents[other].contains(kind)) return other;
  }
  return "";
}

absl::StatusOr<StateFiles> StateFiles::From(const Run& run) {
  const Trace& trace = run.trace;
  StateFiles files;
  ReadEvents(trace, files);
  for (const ThingId file : trace.ThingsWith(Quantity::kSavedNonfinite)) {
    for (const Sample& sample : FirstProcess(trace.Series(Quantity::kSavedNonfinite, file))) {
      files.looked_at.push_back({trace.thing(file).name, sample.step, sample.value, sample.aux});
    }
  }
  if (files.saves.empty() && files.loads.empty() && files.looked_at.empty()) {
    return absl::NotFoundError("no state_dict() was saved to or loaded from a file");
  }
  if (!trace.ThingsWith(Quantity::kLossScale).empty()) files.scales = true;
  for (const ThingId model : trace.ThingsOfKind("model")) {
    if (trace.Attribute(model, "restored_elsewhere") == "1") files.elsewhere = trace.Display(model);
  }
  for (const ThingId model : trace.ThingsWith(Quantity::kLoadedShare)) {
    if (!IsOptimized(trace, trace.thing(model).ordinal)) continue;
    files.trains_loaded = true;
    for (const Sample& sample : FirstProcess(trace.Series(Quantity::kLoadedShare, model))) {
      if (sample.value < 1) files.fits_whole = false;
    }
  }
  for (const ThingId parameter : trace.ThingsOfKind("parameter")) {
    if (trace.Attribute(parameter, "requires_grad") == "0") files.has_frozen = true;
  }
  return files;
}

}  // namespace dlcheck

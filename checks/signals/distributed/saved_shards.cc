#include "checks/signals/distributed/saved_shards.h"
#include "checks/engine/whole.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace dlcheck {
namespace {

bool IsSave(const Occurrence& event) { return event.event == Event::kSaved; }

// Files are named as the program names them in events, and in full where parts are told.
bool SavesWhole(const Trace& trace) {
  const std::vector<ThingId> with_parts = trace.ThingsWith(Quantity::kSavedShards);
  return std::ranges::any_of(trace.Events(), [&](const Occurrence& event) {
    if (!IsSave(event)) return false;
    const std::string& name = trace.thing(event.thing).name;
    const std::string contents(trace.Attribute(event.thing, "contents"));
    return contents.find("model") != std::string::npos &&
           std::ranges::none_of(
               with_parts, [&](ThingId file) { return trace.thing(file).name.ends_with(name); });
  });
}

}  // namespace

absl::StatusOr<SavedShards> SavedShards::From(const Run& run) {
  const Trace& trace = run.trace;
  if (std::ranges::none_of(trace.Events(), IsSave)) {
    return absl::NotFoundError("no checkpoint was saved");
  }
  std::map<std::tuple<ThingId, int64_t, int64_t>, Save> saves;  // by members, parts and step
  for (const ThingId file : trace.ThingsWith(Quantity::kSavedShards)) {
    for (const Sample& sample : trace.Series(Quantity::kSavedShards, file)) {
      const auto parts = Whole(sample.aux);
      Save& save = saves[{sample.owner, parts, sample.step}];
      save.group = trace.thing(sample.owner).name;
      save.parts = parts;
      save.step = sample.step;
      save.saved.insert(Whole(sample.value));
      save.files[sample.rank] = trace.thing(file).name;
    }
  }
  if (saves.empty()) {
    return absl::FailedPreconditionError("no rank saved its own shard of a sharded tensor");
  }
  SavedShards found{.saves = {},
                    .one_machine = !trace.ProcessAttribute("one_machine").empty(),
                    .saves_whole = SavesWhole(trace)};
  for (auto& [key, save] : saves) found.saves.push_back(std::move(save));
  return found;
}

}  // namespace dlcheck

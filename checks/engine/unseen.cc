#include "checks/engine/unseen.h"

#include <set>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"

namespace dlcheck {
namespace {

int64_t CountOf(const Trace& trace, std::string_view key) {
  int64_t count = 0;
  return absl::SimpleAtoi(std::string(trace.ProcessAttribute(key)), &count) ? count : 0;
}

// A model's ordinal and the name of a module in it.
using ModuleName = std::pair<int, std::string>;

bool HoldsAnother(const std::set<ModuleName>& all, const ModuleName& module) {
  const auto& [model, name] = module;
  const std::string inside = name.empty() ? "" : name + ".";
  const auto next = name.empty() ? all.upper_bound(module) : all.lower_bound({model, inside});
  return next != all.end() && next->first == model && next->second.starts_with(inside);
}

void CountLayers(const Trace& trace, Unseen& unseen) {
  std::set<ModuleName> all, seen;
  const auto name_of = [&trace](ThingId id) {
    return ModuleName(trace.thing(id).ordinal, trace.thing(id).name);
  };
  for (const ThingId id : trace.ThingsOfKind("module")) all.insert(name_of(id));
  for (const Occurrence& event : trace.Events()) {
    if (event.event == Event::kForward && trace.thing(event.thing).kind == "module") {
      seen.insert(name_of(event.thing));
    }
  }
  for (const ModuleName& module : all) {
    if (HoldsAnother(all, module)) continue;
    ++unseen.layers;
    unseen.layers_seen += seen.contains(module);
  }
}

}  // namespace

Unseen UnseenIn(const Trace& trace) {
  Unseen unseen{.compiled_graphs = CountOf(trace, "compiled_graphs"),
                .graph_replays = CountOf(trace, "graph_replays"),
                .opaque_modules = CountOf(trace, "opaque_modules")};
  if (unseen.Any()) CountLayers(trace, unseen);
  return unseen;
}

}  // namespace dlcheck

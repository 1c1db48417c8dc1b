#include "checks/signals/optimizer/decayed_parameters.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"

namespace dlcheck {
namespace {

using Module = std::pair<int, std::string>;  // ordinal of its model, and its name

std::set<Module> NormalizationModules(const Trace& trace) {
  std::set<Module> modules;
  for (const ThingId id : trace.ThingsOfKind("module")) {
    if (trace.Attribute(id, "role") != "normalization") continue;
    modules.emplace(trace.thing(id).ordinal, trace.thing(id).name);
  }
  return modules;
}

std::map<std::string, DecayedParameters::Group> GroupsWithDecay(const Trace& trace) {
  std::map<std::string, DecayedParameters::Group> groups;
  for (const ThingId id : trace.ThingsOfKind("group")) {
    double decay = 0;
    const bool known = absl::SimpleAtod(std::string(trace.Attribute(id, "weight_decay")), &decay);
    if (!known || !(decay > 0)) continue;
    const std::string& name = trace.thing(id).name;
    groups[name] = {.name = name, .decay = decay, .norms = {}, .biases = {}};
  }
  return groups;
}

}  // namespace

absl::StatusOr<DecayedParameters> DecayedParameters::From(const Run& run) {
  const Trace& trace = run.trace;
  const bool stepped = std::ranges::any_of(
      trace.Events(), [](const Occurrence& event) { return event.event == Event::kStep; });
  if (!stepped) return absl::NotFoundError("no optimizer step was observed");
  std::map<std::string, Group> groups = GroupsWithDecay(trace);
  if (groups.empty())
    return absl::FailedPreconditionError("no parameter group is known to have weight decay");
  const std::set<Module> norms = NormalizationModules(trace);
  for (const ThingId id : trace.ThingsOfKind("parameter")) {
    const auto group = groups.find(std::string(trace.Attribute(id, "optimizer")));
    if (group == groups.end() || trace.Attribute(id, "requires_grad") == "0") continue;
    ++group->second.parameters;
    const NamedThing& parameter = trace.thing(id);
    const std::string module(trace.Attribute(id, "module"));
    const bool is_vector = trace.Attribute(id, "shape").find('x') == std::string_view::npos;
    if (norms.contains({parameter.ordinal, module})) {
      group->second.norms.push_back(trace.Display(id));
    } else if (is_vector && parameter.name.ends_with("bias")) {
      group->second.biases.push_back(trace.Display(id));
    }
  }
  DecayedParameters result;
  for (auto& [name, group] : groups) result.groups.push_back(std::move(group));
  return result;
}

}  // namespace dlcheck

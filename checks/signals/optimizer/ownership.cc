#include "checks/signals/optimizer/ownership.h"

#include <string>

#include "absl/strings/numbers.h"

namespace dlcheck {

int OptimizerOrdinal(std::string_view name) {
  constexpr std::string_view kPrefix = "optimizer#";
  if (!name.starts_with(kPrefix)) return -1;
  name.remove_prefix(kPrefix.size());
  int ordinal = -1;
  return absl::SimpleAtoi(std::string(name.substr(0, name.find('/'))), &ordinal) ? ordinal : -1;
}

std::map<int, std::set<int>> ModelsOfOptimizers(const Trace& trace) {
  std::map<int, std::set<int>> models;
  for (const ThingId id : trace.ThingsOfKind("parameter")) {
    if (trace.Attribute(id, "orphan") == "1") continue;
    const int optimizer = OptimizerOrdinal(trace.Attribute(id, "optimizer"));
    if (optimizer >= 0) models[optimizer].insert(trace.thing(id).ordinal);
  }
  return models;
}

}  // namespace dlcheck

#include "checks/signals/run/memory_by_line.h"

namespace dlcheck {

absl::StatusOr<MemoryByLine> MemoryByLine::From(const Run& run) {
  MemoryByLine memory;
  const Trace& trace = run.trace;
  const bool is_logged = !trace.ProcessAttribute("log").empty();
  for (const ThingId thing : trace.ThingsWith(Quantity::kMetric)) {
    const std::string& name = trace.thing(thing).name;
    if (!is_logged || !name.starts_with(kMemoryOf)) continue;
    Line line{.name = name.substr(std::string_view(kMemoryOf).size())};
    for (const Sample& sample : trace.Series(Quantity::kMetric, thing)) {
      line.held.push_back(sample.value);
    }
    if (!line.held.empty()) memory.total += line.held.back();
    memory.lines.push_back(std::move(line));
  }
  if (memory.lines.empty()) {
    return absl::NotFoundError("no memory snapshot with a history was read");
  }
  return memory;
}

}  // namespace dlcheck

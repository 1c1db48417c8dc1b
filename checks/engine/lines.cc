#include "checks/engine/lines.h"

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/numbers.h"

namespace dlcheck {
namespace {

// The later of two events before the finding, the earlier of two in it.
bool IsCloser(const Occurrence& event, const Occurrence& found, int64_t first_step) {
  const bool within = event.step >= first_step, was_within = found.step >= first_step;
  if (within != was_within) return within;
  return within ? event.step < found.step : event.step >= found.step;
}

// "fc1" of a parameter "fc1.weight".
std::string ModuleOf(const std::string& parameter) {
  const size_t dot = parameter.rfind('.');
  return dot == std::string::npos ? "" : parameter.substr(0, dot);
}

// The occurrence whose line is the finding's; null if there is none.
const Occurrence* Find(const Trace& trace, Event event, const Finding& finding) {
  std::set<std::string> things;
  for (const Place& place : finding.places) {
    things.insert(place.thing);
    if (event == Event::kModuleBuilt) things.insert(ModuleOf(place.thing));
  }
  const Occurrence *found = nullptr, *own = nullptr;
  for (const Occurrence& one : trace.Events()) {
    if (one.event != event || one.gap || trace.site(one.site).line == 0) continue;
    if (found == nullptr || IsCloser(one, *found, finding.first_step)) found = &one;
    if (one.thing == 0 || !things.contains(trace.Display(one.thing))) continue;
    if (own == nullptr || IsCloser(one, *own, finding.first_step)) own = &one;
  }
  // Of a layer only its own line says anything.
  return own != nullptr || event == Event::kModuleBuilt ? own : found;
}

// Where the event was. What a loader hands out is what it was built for: that line tells more.
Place PlaceOf(const Trace& trace, const Occurrence& event) {
  const std::string file(trace.Attribute(event.thing, "built_file"));
  const std::string line(trace.Attribute(event.thing, "built_line"));
  int number = 0;
  if (event.event == Event::kFetched && !file.empty() && absl::SimpleAtoi(line, &number)) {
    return {.thing = "", .file = file, .line = number};
  }
  const NamedSite& site = trace.site(event.site);
  return {.thing = "", .file = site.file, .line = site.line};
}

}  // namespace

void GiveLine(const Evidence& evidence, Event event, Finding& finding) {
  const bool has_line =
      std::ranges::any_of(finding.places, [](const Place& place) { return !place.file.empty(); });
  const bool is_of_layer = event == Event::kModuleBuilt;
  if (has_line && !is_of_layer) return;
  for (const auto& [experiment, run] : evidence.runs()) {
    const Occurrence* found = Find(run.trace, event, finding);
    if (found == nullptr) continue;
    Place place = PlaceOf(run.trace, *found);
    finding.places.insert(is_of_layer ? finding.places.begin() : finding.places.end(),
                          std::move(place));
    return;
  }
  // A probe of another language does not see who builds an optimizer, and some programs never call
  // backward().
  if (event == Event::kOptimizerBuilt || event == Event::kBackward) {
    GiveLine(evidence, Event::kStep, finding);
  }
}

}  // namespace dlcheck

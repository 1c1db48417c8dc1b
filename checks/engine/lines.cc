#include "checks/engine/lines.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "checks/engine/experiment.h"
#include "checks/engine/text.h"

namespace dlcheck {
namespace {

// The later of two events before the finding, the earlier of two in it. Of loads in one step the
// last one: what was not restored belongs after it.
bool IsCloser(const Occurrence& event, const Occurrence& found, int64_t first_step) {
  const bool within = event.step >= first_step, was_within = found.step >= first_step;
  if (within != was_within) return within;
  if (event.step == found.step) return !within || event.event == Event::kLoaded;
  return within == (event.step < found.step);
}

// "fc1" of a parameter "fc1.weight".
std::string ModuleOf(const std::string& parameter) {
  const size_t dot = parameter.rfind('.');
  return dot == std::string::npos ? "" : parameter.substr(0, dot);
}

bool IsOf(const Trace& trace, ThingId thing, const std::set<std::string>& things) {
  return thing != 0 && things.contains(trace.Display(thing));
}

// Whether a scheduler of this name made it: "StepLR of optimizer#0" is the place of one of several.
bool IsNamed(const Trace& trace, const Occurrence& one, const Finding& finding) {
  if (one.thing == 0 || one.owner == 0) return false;
  const std::string name = trace.Display(one.thing) + " of " + trace.Display(one.owner);
  return std::ranges::any_of(finding.places,
                             [&](const Place& place) { return place.thing == name; });
}

// The occurrence whose line is the finding's; null if there is none.
const Occurrence* Find(const Trace& trace, Event event, bool only_own, const Finding& finding) {
  std::set<std::string> things, modules;  // of a layer, the one around it
  for (const Place& place : finding.places) {
    things.insert(place.thing);
    // "StepLR of optimizer#0", and not "first batch of Linear", which was not loaded.
    const size_t of = event == Event::kLoaded ? std::string::npos : place.thing.find(" of ");
    if (of != std::string::npos) things.insert(place.thing.substr(of + 4));
    if (event == Event::kModuleBuilt) modules.insert(ModuleOf(place.thing));
  }
  const Occurrence *found = nullptr, *own = nullptr, *around = nullptr, *named = nullptr;
  for (const Occurrence& one : trace.Events()) {
    if (one.event != event || one.gap || trace.site(one.site).line == 0) continue;
    if (found == nullptr || IsCloser(one, *found, finding.first_step)) found = &one;
    if (around == nullptr && IsOf(trace, one.thing, modules)) around = &one;
    if (!IsOf(trace, one.thing, things) && !IsOf(trace, one.owner, things)) continue;
    if (own == nullptr || IsCloser(one, *own, finding.first_step)) own = &one;
    if (named == nullptr && IsNamed(trace, one, finding)) named = &one;
  }
  if (named != nullptr) own = named;
  if (own == nullptr) own = around;
  // Of a layer only its own line says anything.
  return own != nullptr || only_own || event == Event::kModuleBuilt ? own : found;
}

// The line that a loader's attributes name: where it was built, or where its samples are made.
std::optional<Place> AttributedPlace(const Trace& trace, ThingId loader, std::string_view which) {
  const std::string file(trace.Attribute(loader, StrCat(which, "_file")));
  const std::string line(trace.Attribute(loader, StrCat(which, "_line")));
  int number = 0;
  if (file.empty() || !absl::SimpleAtoi(line, &number)) return std::nullopt;
  return Place{.thing = "", .file = file, .line = number};
}

// Where the event was. What a loader hands out is what it was built for: that line tells more.
Place PlaceOf(const Trace& trace, const Occurrence& event) {
  if (event.event == Event::kFetched) {
    if (std::optional<Place> built = AttributedPlace(trace, event.thing, "built")) return *built;
  }
  const NamedSite& site = trace.site(event.site);
  return {.thing = "", .file = site.file, .line = site.line};
}

// Whether the line of such an event goes before a line that the finding has: it built what the
// finding is about, and the other line uses that.
bool GoesFirst(Event event) { return event == Event::kModuleBuilt || event == Event::kScheduler; }

// Where no line of such an event was recorded: a probe of another language does not see who builds
// an optimizer, and some programs never call backward().
std::optional<Event> Instead(Event event) {
  switch (event) {
    case Event::kLossComputed:
      return Event::kBackward;
    case Event::kScheduler:
      return Event::kOptimizerBuilt;
    case Event::kAverageBuilt:
    case Event::kDebugging:
    case Event::kScalerBuilt:
    case Event::kOptimizerBuilt:
    case Event::kBackward:
      return Event::kStep;
    default:
      return std::nullopt;
  }
}

bool IsBuilding(Event event) {
  switch (event) {
    case Event::kAverageBuilt:
    case Event::kModuleBuilt:
    case Event::kOptimizerBuilt:
    case Event::kScalerBuilt:
    case Event::kScheduler:
      return true;
    default:
      return false;
  }
}

// Whether all events of a kind are one, or were at one line.
bool AreAtOneLine(const Trace& trace, Event event) {
  std::set<std::pair<std::string, int>> lines;
  for (const Occurrence& one : trace.Events()) {
    const NamedSite& site = trace.site(one.site);
    if (one.event == event && !one.gap && site.line != 0) lines.emplace(site.file, site.line);
  }
  return lines.size() == 1;
}

// Whether the function at `site` also trains: its beginning is no place for a call that belongs to
// an evaluation.
bool Trains(const Trace& trace, const NamedSite& site) {
  return std::ranges::any_of(trace.Events(), [&](const Occurrence& one) {
    if (one.event != Event::kStep && one.event != Event::kBackward) return false;
    const NamedSite& other = trace.site(one.site);
    return other.file == site.file && other.function == site.function;
  });
}

// The batch that was fetched closest to the finding, for an evaluation or for training; null if
// there is none. What happens next tells which: a batch is fetched before anything is done with it.
const Occurrence* FindFetched(const Trace& trace, bool in_evaluation, const Finding& finding) {
  const Occurrence* found = nullptr;
  bool evaluates = false;
  for (const Occurrence& one : trace.Events() | std::views::reverse) {
    if (one.event == Event::kEvaluationForward) {
      evaluates = true;
    } else if (one.event != Event::kFetched && one.event != Event::kEvaluationBegan) {
      evaluates = false;
    } else if (one.event == Event::kFetched && !one.gap && evaluates == in_evaluation) {
      // Of several in one step the first, which comes last here.
      const bool is_farther = found != nullptr && IsCloser(*found, one, finding.first_step);
      if (!is_farther) found = &one;
    }
  }
  return found;
}

// The occurrence whose line is to be added; null if it is not certain which.
const Occurrence* FindAdded(const Trace& trace, Event event, bool in_evaluation,
                            const Finding& finding) {
  if (event == Event::kFetched) return FindFetched(trace, in_evaluation, finding);
  const bool guesses =
      !IsBuilding(event) || (event != Event::kModuleBuilt && AreAtOneLine(trace, event));
  const Occurrence* found = Find(trace, event, !guesses, finding);
  if (found == nullptr || event != Event::kEvaluationBegan) return found;
  return Trains(trace, trace.site(found->site)) ? nullptr : found;
}

bool HasLine(const Finding& finding) {
  return std::ranges::any_of(finding.places,
                             [](const Place& place) { return !place.file.empty(); });
}

// Before the lines of backward calls the lines that compute their losses.
void GiveLossLines(const Trace& trace, Finding& finding) {
  std::vector<Place> places;
  for (Place& place : finding.places) {
    for (const Occurrence& one : trace.Events()) {
      const NamedSite& site = trace.site(one.site);
      if (one.event != Event::kLossComputed || one.value != place.line) continue;
      if (!place.file.empty() && site.file == place.file && site.line != place.line) {
        places.push_back({.thing = "", .file = site.file, .line = site.line});
      }
    }
    places.push_back(std::move(place));
  }
  finding.places = std::move(places);
}

void AddPlace(Event event, const Place& place, Finding& finding) {
  if (std::ranges::find(finding.places, place) != finding.places.end()) return;
  const auto first_thing =
      std::ranges::find_if(finding.places, [](const Place& other) { return !other.thing.empty(); });
  finding.places.insert(GoesFirst(event) ? first_thing : finding.places.end(), place);
}

}  // namespace

void GiveLine(const Evidence& evidence, Event event, Finding& finding) {
  if (event == Event::kLossComputed) {
    GiveLine(evidence, Event::kBackward, finding);
    if (const Run* run = evidence.RunOf(kPlain)) GiveLossLines(run->trace, finding);
    return;
  }
  const bool has_line = HasLine(finding);
  if (has_line && !GoesFirst(event)) return;
  for (const auto& [experiment, run] : evidence.runs()) {
    const Occurrence* found = Find(run.trace, event, has_line, finding);
    if (found == nullptr) continue;
    const auto first_thing = std::ranges::find_if(
        finding.places, [](const Place& place) { return !place.thing.empty(); });
    finding.places.insert(GoesFirst(event) ? first_thing : finding.places.end(),
                          PlaceOf(run.trace, *found));
    return;
  }
  if (has_line) return;
  if (const std::optional<Event> other = Instead(event)) GiveLine(evidence, *other, finding);
}

void AddLine(const Evidence& evidence, Event event, bool in_evaluation, Finding& finding) {
  for (const auto& [experiment, run] : evidence.runs()) {
    const Occurrence* found = FindAdded(run.trace, event, in_evaluation, finding);
    if (found == nullptr) continue;
    AddPlace(event, PlaceOf(run.trace, *found), finding);
    if (event == Event::kFetched) {
      if (auto data = AttributedPlace(run.trace, found->thing, "data"))
        AddPlace(event, *data, finding);
    }
    return;
  }
}

}  // namespace dlcheck

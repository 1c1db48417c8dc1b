#include "diagnostics/cli/resumption.h"

#include <algorithm>

namespace dlcheck::cli {

std::set<std::string> ReadFirst(const Trace& trace) {
  std::set<std::string> names;
  for (const Occurrence& event : trace.Events()) {
    if (event.event != Event::kLoaded || event.gap || event.step != 0) continue;
    const NamedThing& thing = trace.thing(event.thing);
    if (event.thing == 0 || thing.kind == "file") names.insert(thing.name);
  }
  return names;
}

bool TrainsLoaded(const Trace& trace) {
  std::set<int> optimized;  // ordinals of models
  for (const ThingId parameter : trace.ThingsOfKind("parameter")) {
    if (trace.Attribute(parameter, "optimizer").empty()) continue;
    optimized.insert(trace.thing(parameter).ordinal);
  }
  const bool has_whole =
      std::ranges::any_of(trace.ThingsWith(Quantity::kLoadedShare), [&](ThingId model) {
        const Sample& first = trace.Series(Quantity::kLoadedShare, model).front();
        return optimized.contains(trace.thing(model).ordinal) && first.step == 0 &&
               first.value == 1 && first.aux == 0;
      });
  return has_whole || std::ranges::any_of(trace.Events(), [&trace](const Occurrence& event) {
           return event.event == Event::kLoaded && event.step == 0 &&
                  trace.thing(event.thing).kind == "optimizer";
         });
}

}  // namespace dlcheck::cli

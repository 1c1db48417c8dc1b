// The lines of things, from the events that tell them.
#pragma once

#include <map>

#include "checks/engine/trace.h"

namespace dlcheck {

// By thing, the line of its first event of this kind that has one. Cost: one pass over the events.
inline std::map<ThingId, SiteId> FirstSites(const Trace& trace, Event kind) {
  std::map<ThingId, SiteId> sites;
  for (const Occurrence& event : trace.Events()) {
    if (event.event == kind && event.site != 0) sites.emplace(event.thing, event.site);
  }
  return sites;
}

// The line of all events of a kind; line 0 where there are several lines, or none is known.
inline NamedSite OnlySiteOf(const Trace& trace, Event kind) {
  SiteId only = 0;
  for (const Occurrence& event : trace.Events()) {
    if (event.event != kind || event.site == 0 || event.site == only) continue;
    if (only != 0) return {};
    only = event.site;
  }
  return trace.site(only);
}

// 0 for a thing without a line.
inline SiteId SiteOf(const std::map<ThingId, SiteId>& sites, ThingId thing) {
  const auto found = sites.find(thing);
  return found == sites.end() ? 0 : found->second;
}

}  // namespace dlcheck

#include "checks/signals/optimizer/replacements.h"

#include <algorithm>
#include <map>

#include "absl/strings/numbers.h"
#include "checks/signals/run/first_sites.h"

namespace dlcheck {
namespace {

// Steps in which the weights of a model were loaded, ascending.
std::vector<int64_t> LoadsOf(const Trace& trace) {
  std::vector<int64_t> steps;
  for (const Occurrence& event : trace.Events()) {
    if (event.event != Event::kLoaded || event.rank != 0) continue;
    if (event.thing == 0 || trace.thing(event.thing).kind == "model") steps.push_back(event.step);
  }
  std::ranges::sort(steps);
  return steps;
}

bool IsBetween(const std::vector<int64_t>& steps, int64_t after, int64_t until) {
  const auto found = std::ranges::upper_bound(steps, after);
  return found != steps.end() && *found <= until;
}

int64_t Number(const Trace& trace, ThingId optimizer, std::string_view key) {
  int64_t number = -1;
  return absl::SimpleAtoi(std::string(trace.Attribute(optimizer, key)), &number) ? number : -1;
}

}  // namespace

absl::StatusOr<Replacements> Replacements::From(const Run& run) {
  const Trace& trace = run.trace;
  const std::vector<ThingId> optimizers = trace.ThingsOfKind("optimizer");
  if (optimizers.empty()) return absl::NotFoundError("no optimizer step was observed");
  const std::vector<int64_t> loads = LoadsOf(trace);
  const std::map<ThingId, SiteId> sites = FirstSites(trace, Event::kStep);
  const std::map<ThingId, SiteId> lines = FirstSites(trace, Event::kOptimizerBuilt);
  std::map<int64_t, ThingId> by_ordinal;
  for (const ThingId id : optimizers) by_ordinal.emplace(trace.thing(id).ordinal, id);
  std::map<int64_t, Chain> open;  // by the ordinal of the latest optimizer
  Replacements found;
  for (const ThingId id : optimizers) {
    const int64_t before = Number(trace, id, "replaces"), step = Number(trace, id, "first_step");
    if (before < 0) continue;
    auto chain = open.extract(before);
    Chain longer = chain.empty() ? Chain() : std::move(chain.mapped());
    if (chain.empty() && by_ordinal.contains(before)) {
      longer.built = SiteOf(lines, by_ordinal.at(before));
    }
    if (!longer.first_steps.empty() && IsBetween(loads, longer.first_steps.back(), step)) {
      found.chains.push_back(std::move(longer));
      longer = Chain();
      longer.built = SiteOf(lines, id);
    }
    longer.type = std::string(trace.Attribute(id, "type"));
    longer.first_parameter = std::string(trace.Attribute(id, "first_parameter"));
    longer.first_steps.push_back(step);
    if (longer.site == 0) longer.site = SiteOf(lines, id);
    if (longer.site == 0) longer.site = SiteOf(sites, id);
    if (longer.built != SiteOf(lines, id)) longer.built = 0;
    open[trace.thing(id).ordinal] = std::move(longer);
  }
  for (auto& [ordinal, chain] : open) found.chains.push_back(std::move(chain));
  return found;
}

}  // namespace dlcheck

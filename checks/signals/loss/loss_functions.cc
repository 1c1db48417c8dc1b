#include "checks/signals/loss/loss_functions.h"

#include <cmath>
#include <map>

#include "checks/signals/run/first_process.h"

namespace dlcheck {
namespace {

// Where each loss is worked out or, where that is not known, where its first backward call stands.
std::map<ThingId, SiteId> SitesOf(const Trace& trace) {
  std::map<ThingId, SiteId> sites;
  for (const Quantity quantity :
       {Quantity::kCountedTargets, Quantity::kProbabilityRows, Quantity::kUnreachableTargets}) {
    for (const ThingId thing : trace.ThingsWith(quantity)) {
      const SiteId site = trace.Series(quantity, thing).front().site;
      if (site != 0) sites.try_emplace(thing, site);
    }
  }
  for (const Occurrence& event : FirstProcess(trace.Events())) {
    if (event.event == Event::kBackward && !event.gap) sites.try_emplace(event.thing, event.site);
  }
  return sites;
}

}  // namespace

absl::StatusOr<LossFunctions> LossFunctions::From(const Run& run) {
  const Trace& trace = run.trace;
  const std::map<ThingId, SiteId> sites = SitesOf(trace);
  const auto series = [&](Quantity quantity, ThingId thing) {
    return FirstProcess(trace.Series(quantity, thing));
  };
  LossFunctions losses;
  losses.declared_reduction = std::string(trace.ProcessAttribute("declared.reduction"));
  for (const ThingId thing : trace.ThingsOfKind("loss")) {
    const auto attribute = [&](std::string_view key) {
      return std::string(trace.Attribute(thing, key));
    };
    const auto site = sites.find(thing);
    losses.functions.push_back(
        {.name = trace.Display(thing),
         .kind = attribute("kind"),
         .reduction = attribute("reduction"),
         .input_from = attribute("input_from"),
         .logarithm_of = attribute("logarithm_of"),
         .sigmoid_of = attribute("sigmoid_of"),
         .targets = attribute("targets"),
         .normalized_by = attribute("normalized_by"),
         .broadcast = attribute("broadcast"),
         .several_true = attribute("several_true"),
         .losses = series(Quantity::kLoss, thing),
         .shares = series(Quantity::kLossShare, thing),
         .terms = series(Quantity::kLossTermShare, thing),
         .counted = series(Quantity::kCountedTargets, thing),
         .probabilities = series(Quantity::kProbabilityRows, thing),
         .log_probabilities = series(Quantity::kLogProbabilityRows, thing),
         .unreachable = series(Quantity::kUnreachableTargets, thing),
         .site = trace.site(site == sites.end() ? SiteId{0} : site->second)});
    for (const Sample& sample : losses.functions.back().losses) {
      if (!std::isfinite(sample.value)) losses.nonfinite_steps.insert(sample.step);
    }
  }
  if (losses.functions.empty()) return absl::NotFoundError("no loss was observed");
  return losses;
}

int64_t StepsOf(std::span<const Sample> samples) {
  int64_t steps = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (i == 0 || samples[i].step != samples[i - 1].step) ++steps;
  }
  return steps;
}

}  // namespace dlcheck

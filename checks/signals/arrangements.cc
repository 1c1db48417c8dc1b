#include "checks/signals/arrangements.h"

#include "checks/engine/text.h"

namespace dlcheck {
namespace {

std::string Untried(const Trace& trace, std::string_view name) {
  const std::string key = StrCat("untried/", name);
  const std::string_view reason = trace.ProcessAttribute(key);
  return reason.empty() ? "the program made too few steps" : std::string(reason);
}

Arrangements::Slope SlopeOf(const Trace& trace, const Sample& sample) {
  Arrangements::Slope slope{
      .step = sample.step, .ratio = sample.value, .rounding = sample.aux, .cuts = {}};
  for (const ThingId operation : trace.ThingsWith(Quantity::kGraphCuts)) {
    for (const Sample& cut : trace.Series(Quantity::kGraphCuts, operation)) {
      slope.cuts.push_back({.operation = trace.Display(operation), .site = trace.site(cut.site)});
    }
  }
  return slope;
}

}  // namespace

absl::StatusOr<Arrangements> Arrangements::From(const Run& run) {
  const Trace& trace = run.trace;
  const std::string_view order = trace.ProcessAttribute("held_order");
  if (order.empty()) return absl::NotFoundError("the host arranged no batch");
  Arrangements found{.draws = !trace.ProcessAttribute("held_draws").empty(),
                     .drawn_at_random = order == "random",
                     .untried_order = Untried(trace, "order"),
                     .untried_targets = Untried(trace, "targets"),
                     .untried_sizes = Untried(trace, "sizes"),
                     .untried_slope = Untried(trace, "slope")};
  for (const ThingId optimizer : trace.ThingsWith(Quantity::kOrderSensitivity)) {
    const Sample& sample = trace.Series(Quantity::kOrderSensitivity, optimizer).front();
    found.order = Order{.step = sample.step, .share = sample.value, .rounding = sample.aux};
  }
  for (const ThingId optimizer : trace.ThingsWith(Quantity::kSlopeRatio)) {
    found.slope = SlopeOf(trace, trace.Series(Quantity::kSlopeRatio, optimizer).front());
  }
  for (const ThingId optimizer : trace.ThingsWith(Quantity::kSummedPart)) {
    const Sample& summed = trace.Series(Quantity::kSummedPart, optimizer).front();
    const auto averaged = trace.Series(Quantity::kAveragedPart, optimizer);
    if (averaged.empty()) continue;
    found.sizes = Sizes{.step = summed.step,
                        .summed = summed.value,
                        .averaged = averaged.front().value,
                        .bent = averaged.front().aux,
                        .rounding = summed.aux};
  }
  for (const ThingId thing : trace.ThingsWith(Quantity::kMisplacedTargets)) {
    Loss loss{
        .name = trace.Display(thing), .step = 0, .misplaced = 0, .told = 0, .minimised = false};
    loss.minimised = !trace.Series(Quantity::kLossShare, thing).empty();
    for (const Sample& sample : trace.Series(Quantity::kMisplacedTargets, thing)) {
      loss.step = sample.step;
      loss.misplaced += sample.value;
      loss.told += sample.aux;
    }
    found.losses.push_back(loss);
  }
  return found;
}

}  // namespace dlcheck

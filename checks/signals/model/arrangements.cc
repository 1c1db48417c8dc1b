#include "checks/signals/model/arrangements.h"

#include "checks/engine/text.h"

namespace dlcheck {
namespace {

std::string Untried(const Trace& trace, std::string_view name) {
  const std::string key = StrCat("untried/", name);
  const std::string_view reason = trace.ProcessAttribute(key);
  return reason.empty() ? "the program made too few optimizer steps" : std::string(reason);
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

// The first value of a quantity; null if there is none.
const Sample* FirstSample(const Trace& trace, Quantity quantity) {
  for (const ThingId thing : trace.ThingsWith(quantity)) {
    return &trace.Series(quantity, thing).front();
  }
  return nullptr;
}

std::optional<Arrangements::Split> SplitOf(const Trace& trace) {
  const Sample* turned = FirstSample(trace, Quantity::kTurnedWindow);
  const Sample* mixed = FirstSample(trace, Quantity::kMixedWindow);
  if (turned == nullptr && mixed == nullptr) return std::nullopt;
  Arrangements::Split split;
  split.step = (turned == nullptr ? mixed : turned)->step;
  split.window = std::string(trace.ProcessAttribute("held_window"));
  split.unmixed = Untried(trace, "mixed");
  split.is_cut = !trace.ProcessAttribute("held_cut").empty();
  if (turned != nullptr) split.turned = {.share = turned->value, .rounding = turned->aux};
  if (mixed != nullptr) split.mixed = {.share = mixed->value, .rounding = mixed->aux};
  if (const Sample* bent = FirstSample(trace, Quantity::kBentWindow)) {
    split.bent = bent->value;
    split.ratio = bent->aux;
  }
  for (const ThingId place : trace.ThingsWith(Quantity::kMicroBatchShare)) {
    split.shares.push_back(trace.Series(Quantity::kMicroBatchShare, place).front().value);
  }
  return split;
}

std::optional<Arrangements::Sizes> SizesOf(const Trace& trace) {
  const Sample* summed = FirstSample(trace, Quantity::kSummedPart);
  const Sample* averaged = FirstSample(trace, Quantity::kAveragedPart);
  if (summed == nullptr || averaged == nullptr) return std::nullopt;
  return Arrangements::Sizes{.step = summed->step,
                             .summed = summed->value,
                             .averaged = averaged->value,
                             .bent = averaged->aux,
                             .rounding = summed->aux};
}

}  // namespace

absl::StatusOr<Arrangements> Arrangements::From(const Run& run) {
  const Trace& trace = run.trace;
  const std::string_view order = trace.ProcessAttribute("held_order");
  if (order.empty())
    return absl::NotFoundError("no training batch was kept to run again under fixed weights");
  Arrangements found;
  found.split = SplitOf(trace);
  found.draws = !trace.ProcessAttribute("held_draws").empty();
  found.drawn_at_random = order == "random" || order == "distributed";
  found.untried_order = Untried(trace, "order");
  found.untried_targets = Untried(trace, "targets");
  found.untried_sizes = Untried(trace, "sizes");
  found.untried_slope = Untried(trace, "slope");
  found.untried_split = Untried(trace, "split");
  if (const Sample* moved = FirstSample(trace, Quantity::kOrderSensitivity)) {
    found.order = Order{.step = moved->step, .share = moved->value, .rounding = moved->aux};
  }
  const Sample* slope = FirstSample(trace, Quantity::kSlopeRatio);
  if (slope != nullptr) found.slope = SlopeOf(trace, *slope);
  found.sizes = SizesOf(trace);
  for (const ThingId thing : trace.ThingsWith(Quantity::kMisplacedTargets)) {
    Loss loss{
        .name = trace.Display(thing), .step = 0, .misplaced = 0, .told = 0, .minimized = false};
    loss.minimized = !trace.Series(Quantity::kLossShare, thing).empty();
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

#include <cmath>

#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/arrangements.h"

namespace dlcheck::gradients {
namespace {

constexpr Setting kError{.name = "error",
                         .value = 1e-3,
                         .low = 0,
                         .high = 10,
                         .unit = "of the slope",
                         .meaning = "difference between gradient and slope, added to `times`",
                         .source = "measured: at most 6e-4 in 32 healthy programs"};
constexpr Setting kTimes{.name = "times",
                         .value = 8,
                         .low = 1,
                         .high = 1e9,
                         .unit = "times the uncertainty of the slope",
                         .meaning = "difference between gradient and slope, added to `error`",
                         .source = "measured: at most 1.1 in 32 healthy programs"};
constexpr Setting kKnown{
    .name = "known",
    .value = 0.05,
    .low = 0,
    .high = 1,
    .unit = "of the slope",
    .meaning = "largest uncertainty of a slope that is judged",
    .source = "own reasoning: a loss with many kinks or few digits has no slope"};

std::vector<Place> PlacesOf(const Arrangements::Slope& slope) {
  std::vector<Place> places;
  for (const Arrangements::Cut& cut : slope.cuts) {
    places.push_back({.thing = cut.operation, .file = cut.site.file, .line = cut.site.line});
  }
  return places;
}

std::string ReasonsOf(const Arrangements::Slope& slope) {
  if (slope.cuts.empty()) {
    return "Nothing was seen that takes values off the graph of the loss or changes gradients.";
  }
  std::vector<std::string> names;
  for (const Arrangements::Cut& cut : slope.cuts) {
    names.push_back(cut.site.line == 0 ? cut.operation
                                       : StrCat(cut.operation, " at ", cut.site.line));
  }
  return StrCat("Values leave the graph of the loss, or gradients are changed, by ",
                Listed(names, 4), ".");
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const During<kHeld, Arrangements>& held) {
  if (!held->slope) return absl::FailedPreconditionError(held->untried_slope);
  const Arrangements::Slope& slope = *held->slope;
  if (slope.rounding > settings[kKnown]) {
    return absl::FailedPreconditionError(
        StrCat("the slope of its loss is known to ", Short(slope.rounding), " of itself alone"));
  }
  Verdict verdict{.findings = {}, .judged = "1 slope"};
  const double bound = settings[kError] + settings[kTimes] * slope.rounding;
  const double error = std::abs(slope.ratio - 1);
  if (error <= bound) return verdict;
  verdict.findings.push_back(
      {.severity = Severity::kNote,
       .message = StrCat("Along its gradient the loss of a step rises ", Short(slope.ratio),
                         " times as fast as the gradient says; that is known to ",
                         Short(slope.rounding), ". ", ReasonsOf(slope)),
       .places = PlacesOf(slope),
       .first_step = slope.step,
       .last_step = slope.step,
       .count = 1,
       .measured = error,
       .bound = bound});
  return verdict;
}

Evidence Rising(double ratio, double rounding, bool cut) {
  RunBuilder held;
  held.Process("held_order", "random");
  for (int step = 0; step < 4; ++step) AddStep(held, {.held = {}});
  held.Quantity(Quantity::kSlopeRatio, "optimizer", "", ratio, rounding);
  if (cut) held.Quantity(Quantity::kGraphCuts, "operation", "detach", 1);
  Evidence evidence;
  evidence.Add(kPlain, TwoLayers().Build());
  evidence.Add(kHeld, held.Build());
  return evidence;
}

}  // namespace

Check GradientMismatch() {
  return {
      .id = "gradients/gradient_mismatch",
      .promise = "Along the gradient of a step its loss rises as fast as the gradient says.",
      .why =
          "Otherwise the step goes down another function than the loss that is reported: a part of "
          "it is taken for a constant, or its gradient is changed on the way.",
      .method =
          "One batch is held. The weights are moved a little to and fro along the gradient, and "
          "the program works out its loss there; half as far, the slope must be the same.",
      .fix =
          "Look at the lines that are named: what is detached, worked out without gradients, read "
          "as a number, compared or rounded there is a constant to the gradient.",
      .limits =
          "Needs --deep, one optimizer, and steps that give the same gradient for the same batch. "
          "Silent where the loss has many kinks or few digits, as in half precision. A note, as "
          "values mostly leave the graph on purpose: targets that a model makes itself, rewards, "
          "codes that are rounded.",
      .sources = {"own reasoning: central differences"},
      .covers = {"L08", "M05"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kError, kTimes, kKnown},
      .judgement = Reads<&Judge>(),
      .examples = {{"as exact as the slope is known", Expect::kClean,
                    [] { return Rising(1.008, 1e-3, false); }},
                   {"a slope that is hardly known", Expect::kClean,
                    [] { return Rising(1.2, 0.04, false); }},
                   {"a tenth is missing", Expect::kFaulty, [] { return Rising(1.1, 1e-3, false); }},
                   {"a tenth is detached", Expect::kFaulty,
                    [] { return Rising(1.1, 1e-3, true); }}},
  };
}

}  // namespace dlcheck::gradients

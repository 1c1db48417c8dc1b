#include <cmath>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/model/arrangements.h"

namespace dlcheck::gradients {
namespace {

constexpr Setting kError{
    .name = "error",
    .value = 1e-3,
    .low = 0,
    .high = 10,
    .unit = "of the slope",
    .meaning = "allowed difference between gradient and finite difference, added to `times`",
    .source = "measured: at most 6e-4 in 32 healthy programs"};
constexpr Setting kTimes{
    .name = "times",
    .value = 8,
    .low = 1,
    .high = 1e9,
    .unit = "times the uncertainty of the slope",
    .meaning = "allowed difference between gradient and finite difference, added to `error`",
    .source = "measured: at most 1.1 in 32 healthy programs"};
constexpr Setting kKnown{
    .name = "known",
    .value = 0.05,
    .low = 0,
    .high = 1,
    .unit = "of the slope",
    .meaning = "largest uncertainty of a slope that the check judges",
    .source = "own reasoning: a loss with many kinks or few digits has no clear slope"};

std::vector<Place> PlacesOf(const Arrangements::Slope& slope) {
  std::vector<Place> places;
  for (const Arrangements::Cut& cut : slope.cuts) {
    places.push_back({.thing = cut.operation, .file = cut.site.file, .line = cut.site.line});
  }
  return places;
}

std::string ReasonsOf(const Arrangements::Slope& slope) {
  if (slope.cuts.empty()) {
    return "No recorded operation detaches values from the loss graph or changes gradients.";
  }
  std::vector<std::string> names;
  for (const Arrangements::Cut& cut : slope.cuts) {
    names.push_back(cut.site.line == 0 ? cut.operation
                                       : StrCat(cut.operation, " at ", cut.site.line));
  }
  return StrCat("Operations that detach values or change gradients: ", Listed(names, 4), ".");
}

absl::StatusOr<Verdict> Judge(const Settings& settings,
                              const During<kFixedBatch, Arrangements>& held) {
  if (!held->slope) return absl::FailedPreconditionError(held->untried_slope);
  const Arrangements::Slope& slope = *held->slope;
  if (slope.rounding > settings[kKnown]) {
    return absl::FailedPreconditionError(
        StrCat("the slope of the loss has a relative uncertainty of ", Short(slope.rounding)));
  }
  Verdict verdict{.findings = {}, .judged = "1 slope"};
  const double bound = settings[kError] + settings[kTimes] * slope.rounding;
  const double error = std::abs(slope.ratio - 1);
  if (error <= bound) return verdict;
  verdict.findings.push_back(
      {.severity = Severity::kNote,
       .message = StrCat("Finite differences gave ", Short(slope.ratio), " (uncertainty ",
                         Short(slope.rounding), ") of the slope that the gradient predicts. ",
                         ReasonsOf(slope)),
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
  evidence.Add(kFixedBatch, held.Build());
  return evidence;
}

}  // namespace

Check GradientMismatch() {
  return {
      .id = "gradients/gradient_mismatch",
      .title = "The gradient does not match the loss",
      .promise = "The loss changes along its gradient as fast as the gradient predicts.",
      .why =
          "Otherwise the step minimizes another function than the reported loss. A part of the "
          "loss is treated as constant, or its gradient is changed on the way.",
      .method =
          "Keeps one batch fixed and shifts the weights slightly both ways along the gradient. "
          "Compares the finite difference of the loss with the slope that the gradient predicts. A "
          "second difference over half the distance must agree.",
      .fix =
          "Look at the named lines. Values that are detached, computed under no_grad(), read with "
          "item(), compared or rounded are constants for the gradient.",
      .limits =
          {.needs =
               "--deep, one optimizer, and steps that give the same gradient for the same batch.",
           .silent_when = "The loss has many kinks or few digits, as in half precision.",
           .severity = "Always a note: values often leave the graph on purpose, such as a model's "
                       "own targets, rewards or rounded codes.",
           .blind_spots = "",
           .sensitivity = ""},
      .python = {.bad = R"(mean = features.mean(0).detach()
penalty = (features - mean).pow(2).mean()
loss = criterion(model(x), y) + penalty)",
                 .good = R"(mean = features.mean(0)
penalty = (features - mean).pow(2).mean()
loss = criterion(model(x), y) + penalty)"},
      .cpp = {},
      .sources = {"own reasoning: central differences"},
      .covers = {"detached-auxiliary-loss", "detached-path"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kError, kTimes, kKnown},
      .judgement = Reads<&Judge>(),
      .examples = {{"a ratio within its uncertainty", Expect::kClean,
                    [] { return Rising(1.008, 1e-3, false); }},
                   {"an uncertain slope", Expect::kClean, [] { return Rising(1.2, 0.04, false); }},
                   {"a tenth is missing", Expect::kNote, [] { return Rising(1.1, 1e-3, false); }},
                   {"a tenth is detached", Expect::kNote, [] { return Rising(1.1, 1e-3, true); }}},
  };
}

}  // namespace dlcheck::gradients

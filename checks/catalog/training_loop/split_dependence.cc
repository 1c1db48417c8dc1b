#include <cmath>

#include "checks/catalog/example_runs.h"
#include "checks/catalog/held_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::training_loop {
namespace {

std::string Weights(const Arrangements::Split& split) {
  if (split.shares.empty()) return "";
  std::vector<std::string> shares;
  for (const double share : split.shares) shares.push_back(Short(std::round(share * 1e3) / 1e3));
  return StrCat(" Of the step they count, in their order, ", Listed(shares, shares.size()), ".");
}

std::string Ratio(const Arrangements::Split& split) {
  if (std::abs(split.ratio - 1) < 1e-3) return "";
  return StrCat(" In one like the first a sample counts ", Short(split.ratio),
                " times what it counts in one like the second.");
}

std::string Told(const Arrangements::Moved& moved, std::string_view what) {
  return StrCat("The gradient moves by ", Short(moved.share), " of its norm when ", what,
                ", where rounding explains ", Short(moved.rounding), ".");
}

Finding Found(const Arrangements::Split& split, std::string message, double share, double bound) {
  return {.severity = Severity::kNote,
          .message = std::move(message),
          .places = {},
          .first_step = split.step,
          .last_step = split.step,
          .count = 1,
          .measured = share,
          .bound = bound};
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const During<kHeld, Arrangements>& held) {
  if (!held->split) return absl::FailedPreconditionError(held->untried_split);
  const Arrangements::Split& split = *held->split;
  Verdict verdict{.findings = {}, .judged = split.window};
  if (split.turned) {
    const double bound = HeldBound(settings, split.turned->rounding);
    if (split.turned->share > bound) {
      verdict.findings.push_back(Found(
          split,
          Told(*split.turned, StrCat("the ", split.window, " change places")) + Weights(split),
          split.turned->share, bound));
      return verdict;
    }
  }
  if (!split.mixed) {
    verdict.judged = StrCat(split.window, ", which stayed whole: ", split.unmixed);
    return verdict;
  }
  const double bound = HeldBound(settings, split.mixed->rounding);
  if (split.mixed->share <= bound) return verdict;
  if (ActOnEachOther(settings, split)) {
    return absl::FailedPreconditionError(
        "the gradient of its micro-batches is no sum over their samples, which may act on each "
        "other");
  }
  verdict.findings.push_back(Found(
      split,
      Told(*split.mixed, StrCat("samples change places between the ", split.window)) + Ratio(split),
      split.mixed->share, bound));
  return verdict;
}

struct Dealt {
  double turned = 1e-7, mixed = 1e-7;
};

Evidence Window(const Dealt& dealt) {
  RunBuilder held;
  held.Process("held_order", "random");
  held.Process("held_window", "4 batches that a step fetches");
  for (int step = 0; step < 4; ++step) AddStep(held, {.held = {}});
  held.Quantity(Quantity::kTurnedWindow, "optimizer", "", dealt.turned, 2e-7);
  held.Quantity(Quantity::kMixedWindow, "optimizer", "", dealt.mixed, 2e-7);
  held.Quantity(Quantity::kBentWindow, "optimizer", "", 1e-7, 1.25);
  Evidence evidence;
  evidence.Add(kPlain, TwoLayers().Build());
  evidence.Add(kHeld, held.Build());
  return evidence;
}

}  // namespace

Check SplitDependence() {
  return {
      .id = "training_loop/split_dependence",
      .promise =
          "The gradient of a step does not depend on how its samples are split into "
          "micro-batches.",
      .why =
          "Which samples come together in a micro-batch is chance. Where it matters, some count "
          "for more than others, or not at all: those of one that is skipped, or of one with few "
          "targets to share its weight among.",
      .method =
          "The batches of a step are held, and the weights with them. Whole micro-batches change "
          "places, then samples between them, and the gradient of the step is compared with the "
          "one from before. That samples do not act on each other is seen from four micro-batches "
          "of two blocks, whose gradients must depend on each other linearly.",
      .fix =
          "Divide the losses of a window by one number: means of micro-batches with equally many "
          "targets by how many there are, sums by the targets of the whole window. Call backward "
          "for each, and clear before the first alone.",
      .limits =
          "Needs --deep, one optimizer, batches of a DataLoader that draws at random, and steps "
          "that draw no random numbers beside dropout. Samples change places only where each has "
          "a row in a batch of two or more, and are not judged where they act on each other, as "
          "in batch norm. A note, as a mean of means may be meant, and so may micro-batches with "
          "tasks of their own.",
      .sources = {"huggingface/transformers issue 34191", "own reasoning: exact"},
      .covers = {"G03", "G05"},
      .explains = {"data/order_dependence"},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kHeldTimes, kHeldFloor, kHeldBent},
      .judgement = Reads<&Judge>(),
      .examples = {{"as much as rounding explains", Expect::kClean,
                    [] { return Window({.turned = 1e-5, .mixed = 1e-5}); }},
                   {"twice as much when they change places", Expect::kFaulty,
                    [] { return Window({.turned = 2e-5}); }},
                   {"twice as much when samples do", Expect::kFaulty,
                    [] { return Window({.mixed = 2e-5}); }}},
  };
}

}  // namespace dlcheck::training_loop

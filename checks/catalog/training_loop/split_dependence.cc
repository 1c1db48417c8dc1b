#include <cmath>

#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/findings/held_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::training_loop {
namespace {

std::string Weights(const Arrangements::Split& split) {
  if (split.shares.empty()) return "";
  std::vector<std::string> shares;
  for (const double share : split.shares) shares.push_back(Short(std::round(share * 1e3) / 1e3));
  return StrCat(" The micro-batches contribute, in order, ", Listed(shares, shares.size()),
                " of the step.");
}

std::string Ratio(const Arrangements::Split& split) {
  if (std::abs(split.ratio - 1) < 1e-3) return "";
  return StrCat(" A sample in a micro-batch like the first counts ", Short(split.ratio),
                " times as much as one in a micro-batch like the second.");
}

std::string Told(const Arrangements::Moved& moved, std::string_view what) {
  return StrCat("The gradient changed by ", Short(moved.share), " of its norm when ", what,
                " (rounding explains ", Short(moved.rounding), ").");
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

absl::StatusOr<Verdict> Judge(const Settings& settings,
                              const During<kFixedBatch, Arrangements>& held) {
  if (!held->split) return absl::FailedPreconditionError(held->untried_split);
  const Arrangements::Split& split = *held->split;
  Verdict verdict{.findings = {}, .judged = split.window};
  if (split.turned) {
    const double bound = HeldBound(settings, split.turned->rounding);
    if (split.turned->share > bound) {
      verdict.findings.push_back(Found(
          split,
          Told(*split.turned, StrCat("the ", split.window, " were permuted")) + Weights(split),
          split.turned->share, bound));
      return verdict;
    }
  }
  if (!split.mixed) {
    verdict.judged = StrCat(split.window, ", not mixed: ", split.unmixed);
    return verdict;
  }
  const double bound = HeldBound(settings, split.mixed->rounding);
  if (split.mixed->share <= bound) return verdict;
  if (ActOnEachOther(settings, split)) {
    return absl::FailedPreconditionError(
        "the gradient of a micro-batch is not a sum over its samples, which may act on each other");
  }
  verdict.findings.push_back(Found(
      split,
      Told(*split.mixed, StrCat("samples were permuted between the ", split.window)) + Ratio(split),
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
  evidence.Add(kFixedBatch, held.Build());
  return evidence;
}

}  // namespace

Check SplitDependence() {
  return {
      .id = "training_loop/split_dependence",
      .title = "The gradient depends on the micro-batch split",
      .promise =
          "The gradient of a step is the same for every split of its samples into micro-batches.",
      .why =
          "The samples that share a micro-batch are random. If the split matters, some samples "
          "weigh more, such as those in a micro-batch with few targets. Samples of a skipped "
          "micro-batch weigh nothing.",
      .method =
          "Keeps the batches of one step and the weights fixed. Permutes whole micro-batches, then "
          "samples between micro-batches, and compares the step's gradient with the original one. "
          "Four micro-batches of two blocks test whether the gradient is a sum over samples.",
      .fix =
          "Divide all losses of an accumulation window by one number. Divide means with equal "
          "target counts by the number of micro-batches. Divide sums by the targets of the whole "
          "accumulation window. Call backward() for each, and zero_grad() only before the first.",
      .limits = {.needs = "--deep, one optimizer, and a DataLoader that shuffles. Apart from "
                          "dropout, steps must draw no random numbers.",
                 .silent_when =
                     "Samples are permuted only if each has a row in a batch of two or more. "
                     "Samples that act on each other are not judged, as in batch norm.",
                 .severity = "Always a note: an unweighted mean over micro-batches may be "
                             "intentional, and so may micro-batches of different tasks.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(optimizer.zero_grad()
for x, y in micro_batches:
    loss = F.cross_entropy(model(x), y, ignore_index=-100)
    (loss / len(micro_batches)).backward()
optimizer.step())",
                 .good = R"(optimizer.zero_grad()
targets = sum((y != -100).sum() for _, y in micro_batches)
for x, y in micro_batches:
    loss = F.cross_entropy(model(x), y, ignore_index=-100, reduction="sum")
    (loss / targets).backward()
optimizer.step())"},
      .cpp = {},
      .sources = {"huggingface/transformers issue 34191", "own reasoning: exact"},
      .covers = {"unweighted-accumulation", "zeroed-during-accumulation"},
      .explains = {"data/order_dependence"},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {kHeldTimes, kHeldFloor, kHeldBent},
      .judgement = Reads<&Judge>(),
      .examples = {{"changes as large as rounding error", Expect::kClean,
                    [] { return Window({.turned = 1e-5, .mixed = 1e-5}); }},
                   {"twice the rounding error when micro-batches are permuted", Expect::kNote,
                    [] { return Window({.turned = 2e-5}); }},
                   {"twice the rounding error when samples are permuted", Expect::kNote,
                    [] { return Window({.mixed = 2e-5}); }}},
  };
}

}  // namespace dlcheck::training_loop

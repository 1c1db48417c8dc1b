#include "checks/catalog/example_runs.h"
#include "checks/catalog/held_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::data {
namespace {

absl::StatusOr<Verdict> Judge(const Settings& settings, const During<kHeld, Arrangements>& held) {
  if (!held->order) return absl::FailedPreconditionError(held->untried_order);
  if (!held->drawn_at_random) {
    return absl::FailedPreconditionError("its loader does not draw the samples at random");
  }
  Verdict verdict{.findings = {}, .judged = "1 arrangement"};
  const double bound = HeldBound(settings, held->order->rounding);
  if (held->order->share <= bound) return verdict;
  if (held->split && held->split->is_cut && ActOnEachOther(settings, *held->split)) {
    return absl::FailedPreconditionError(
        "a step cuts its batch into parts, in which samples act on each other");
  }
  verdict.findings.push_back(
      {.severity = Severity::kNote,
       .message = StrCat(
           "The gradient moves by ", Short(held->order->share),
           " of its norm when the samples of a batch change places, each with its target, where "
           "rounding explains ",
           Short(held->order->rounding), ": the place in a batch that is drawn at random matters."),
       .places = {},
       .first_step = held->order->step,
       .last_step = held->order->step,
       .count = 1,
       .measured = held->order->share,
       .bound = bound});
  return verdict;
}

Evidence Moved(double share) {
  RunBuilder held;
  held.Process("held_order", "random");
  for (int step = 0; step < 4; ++step) AddStep(held, {.held = {}});
  held.Quantity(Quantity::kOrderSensitivity, "optimizer", "", share, 2e-7);
  Evidence evidence;
  evidence.Add(kPlain, TwoLayers().Build());
  evidence.Add(kHeld, held.Build());
  return evidence;
}

}  // namespace

Check OrderDependence() {
  return {
      .id = "data/order_dependence",
      .promise = "What a step learns from a batch does not depend on the order of its samples.",
      .why =
          "A loader that shuffles puts any sample in any place. Where the place matters, samples "
          "are mixed that do not belong together, or some of them count more than others.",
      .method =
          "One batch is held, and the weights with it. Its samples change places, each with all "
          "that belongs to it, and the gradient of the whole step is compared with the one from "
          "before.",
      .fix =
          "Look for a reshape or view that runs across the batch, a slice of it, and what is "
          "paired by its place: targets, weights, a buffer of the size of a batch.",
      .limits =
          "Needs --deep, one optimizer, batches of a DataLoader that draws at random, with a row "
          "for each sample, and steps that draw no random numbers beside dropout. Silent where a "
          "step "
          "cuts its batch into parts in which samples act on each other, as in batch norm. A note, "
          "as a program may pair the samples of a batch by their places on purpose (mixing them "
          "with "
          "the reversed batch, halves that are compared).",
      .sources = {"own reasoning: exact"},
      .covers = {"D21"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {kHeldTimes, kHeldFloor, kHeldBent},
      .judgement = Reads<&Judge>(),
      .examples = {{"as much as rounding explains", Expect::kClean, [] { return Moved(1e-5); }},
                   {"twice as much", Expect::kFaulty, [] { return Moved(2e-5); }}},
  };
}

}  // namespace dlcheck::data

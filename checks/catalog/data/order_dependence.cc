#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/findings/held_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::data {
namespace {

absl::StatusOr<Verdict> Judge(const Settings& settings,
                              const During<kFixedBatch, Arrangements>& held) {
  if (!held->order) return absl::FailedPreconditionError(held->untried_order);
  if (!held->drawn_at_random) {
    return absl::FailedPreconditionError("the loader does not draw samples at random");
  }
  Verdict verdict{.findings = {}, .judged = "1 permutation"};
  const double bound = HeldBound(settings, held->order->rounding);
  if (held->order->share <= bound) return verdict;
  if (held->split && held->split->is_cut && ActOnEachOther(settings, *held->split)) {
    return absl::FailedPreconditionError(
        "a step splits its batch into parts in which samples act on each other");
  }
  verdict.findings.push_back(
      {.severity = Severity::kNote,
       .message =
           StrCat("The gradient changed by ", Short(held->order->share),
                  " of its norm when the samples of a batch were permuted with their targets "
                  "(rounding explains ",
                  Short(held->order->rounding), "): the position in a random batch matters."),
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
  evidence.Add(kFixedBatch, held.Build());
  return evidence;
}

}  // namespace

Check OrderDependence() {
  return {
      .id = "data/order_dependence",
      .title = "The gradient depends on the sample order",
      .promise = "A step learns the same from a batch in any sample order.",
      .why =
          "A shuffling loader puts any sample at any position. If the position matters, unrelated "
          "samples are mixed, or some samples weigh more than others.",
      .method =
          "Keeps one batch and the weights fixed. Permutes the samples, each with its targets, and "
          "compares the gradient of the whole step before and after.",
      .fix =
          "Look for a reshape or view across the batch, a slice of the batch, and pairing by "
          "position. Pairing may involve targets, weights or a buffer of batch size.",
      .limits = {.needs = "--deep, one optimizer, and DataLoader batches drawn at random with one "
                          "row per sample. Steps that draw no random numbers except in dropout.",
                 .silent_when = "A step splits its batch into parts in which samples act on each "
                                "other, as in batch norm.",
                 .severity = "Always a note: pairing by position may be intentional, as in mixup "
                             "with the reversed batch or contrasted halves.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(weights = torch.linspace(0.5, 1.5, len(y))  # weights by position
losses = F.cross_entropy(model(x), y, reduction="none")
loss = (weights * losses).mean())",
                 .good = R"(weights = class_weights[y]  # weights by class
losses = F.cross_entropy(model(x), y, reduction="none")
loss = (weights * losses).mean())"},
      .cpp = {},
      .sources = {"own reasoning: exact"},
      .covers = {"reshape-instead-of-transpose"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {kHeldTimes, kHeldFloor, kHeldBent},
      .judgement = Reads<&Judge>(),
      .examples = {{"a change that rounding explains", Expect::kClean, [] { return Moved(1e-5); }},
                   {"a change twice as large", Expect::kNote, [] { return Moved(2e-5); }}},
  };
}

}  // namespace dlcheck::data

#include <algorithm>

#include "checks/catalog/example_runs.h"
#include "checks/catalog/held_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::training_loop {
namespace {

absl::StatusOr<Verdict> Judge(const Settings& settings, const During<kHeld, Arrangements>& held) {
  if (!held->sizes) return absl::FailedPreconditionError(held->untried_sizes);
  const Arrangements::Sizes& sizes = *held->sizes;
  Verdict verdict{.findings = {}, .judged = "3 sizes of a batch"};
  const double bound = HeldBound(settings, sizes.rounding);
  const double smaller = std::min(sizes.summed, sizes.averaged);
  if (smaller <= bound || sizes.bent > bound) return verdict;
  verdict.findings.push_back(
      {.severity = Severity::kNote,
       .message = StrCat(
           "A part of the loss is summed over the batch and another is averaged: of two copies of "
           "the same samples, ",
           Short(sizes.summed), " of the gradient counts twice, and ", Short(sizes.averaged),
           " once. How the parts weigh against each other depends on the size of the batch."),
       .places = {},
       .first_step = sizes.step,
       .last_step = sizes.step,
       .count = 1,
       .measured = smaller,
       .bound = bound});
  return verdict;
}

// Shares of the gradient that are summed, averaged, and neither.
Evidence Parts(double summed, double averaged, double bent) {
  RunBuilder held;
  held.Process("held_order", "random");
  for (int step = 0; step < 4; ++step) AddStep(held, {.held = {}});
  held.Quantity(Quantity::kSummedPart, "optimizer", "", summed, 2e-7);
  held.Quantity(Quantity::kAveragedPart, "optimizer", "", averaged, bent);
  Evidence evidence;
  evidence.Add(kPlain, TwoLayers().Build());
  evidence.Add(kHeld, held.Build());
  return evidence;
}

}  // namespace

Check MixedReductions() {
  return {
      .id = "training_loop/mixed_reductions",
      .promise = "The parts of a loss are all averaged over the batch, or all summed.",
      .why =
          "With another batch size, or in a last batch that is smaller, one part counts for more: "
          "what was found to be a good weight for it is not one any more.",
      .method =
          "One batch is held, and the weights with it. Of one, two and three copies of some of its "
          "samples the gradients are n times one part and once another; for other samples the "
          "latter is another, so that no penalty on the weights is meant.",
      .fix = "Give every loss function the same reduction, or divide a sum by the batch size.",
      .limits =
          "Needs --deep, one optimizer, batches of a DataLoader with a row for each of six or more "
          "samples, a program that bears smaller ones, and steps that draw no random numbers "
          "beside dropout. Silent where samples are compared with each other. A note, as the "
          "weights of the parts may be meant for one size.",
      .sources = {"own reasoning: exact"},
      .covers = {"L02"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kHeldTimes, kHeldFloor},
      .judgement = Reads<&Judge>(),
      .examples = {{"as much is summed as rounding explains", Expect::kClean,
                    [] { return Parts(1e-5, 1, 1e-6); }},
                   {"twice as much", Expect::kFaulty, [] { return Parts(2e-5, 1, 1e-6); }},
                   {"samples are compared with each other", Expect::kClean,
                    [] { return Parts(0.5, 0.5, 0.2); }}},
  };
}

}  // namespace dlcheck::training_loop

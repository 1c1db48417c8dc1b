#include <algorithm>

#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/findings/held_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::training_loop {
namespace {

absl::StatusOr<Verdict> Judge(const Settings& settings,
                              const During<kFixedBatch, Arrangements>& held) {
  if (!held->sizes) return absl::FailedPreconditionError(held->untried_sizes);
  const Arrangements::Sizes& sizes = *held->sizes;
  Verdict verdict{.findings = {}, .judged = "3 batch sizes"};
  const double bound = HeldBound(settings, sizes.rounding);
  const double smaller = std::min(sizes.summed, sizes.averaged);
  if (smaller <= bound || sizes.bent > bound) return verdict;
  verdict.findings.push_back(
      {.severity = Severity::kNote,
       .message =
           StrCat("One part of the loss is summed over the batch and another part is averaged: "
                  "when every sample was repeated, ",
                  Short(sizes.summed), " of the gradient doubled and ", Short(sizes.averaged),
                  " stayed. The balance of the two parts depends on the batch size."),
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
  evidence.Add(kFixedBatch, held.Build());
  return evidence;
}

}  // namespace

Check MixedReductions() {
  return {
      .id = "training_loop/mixed_reductions",
      .title = "One loss term is summed, another is averaged",
      .promise = "All terms of a loss are averaged over the batch, or all are summed.",
      .why =
          "With another batch size, or in a smaller last batch, the summed term weighs more or "
          "less than before. A tuned term weight is then wrong.",
      .method =
          "Keeps one batch and the weights fixed and repeats some samples once, twice and three "
          "times. One part of the gradient grows with the copies, another part stays. The constant "
          "part must differ for other samples, so a weight penalty is not reported.",
      .fix =
          "Use the same reduction in every loss function, or divide a summed term by the batch "
          "size.",
      .limits = {.needs = "--deep, one optimizer, and DataLoader batches with one row for each of "
                          "six or more samples. The program must accept smaller batches. Apart "
                          "from dropout, steps must draw no random numbers.",
                 .silent_when = "The loss compares samples with each other.",
                 .severity =
                     "Always a note, because the term weights may be chosen for one batch size.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(recon = F.mse_loss(decoded, x, reduction="sum")
kl = -0.5 * (1 + logvar - mu**2 - logvar.exp()).mean()
loss = recon + beta * kl)",
                 .good = R"(recon = F.mse_loss(decoded, x, reduction="mean")
kl = -0.5 * (1 + logvar - mu**2 - logvar.exp()).mean()
loss = recon + beta * kl)"},
      .cpp = {},
      .sources = {"own reasoning: exact"},
      .covers = {"summed-instead-of-averaged-loss"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {kHeldTimes, kHeldFloor},
      .judgement = Reads<&Judge>(),
      .examples = {{"a summed part as small as rounding error", Expect::kClean,
                    [] { return Parts(1e-5, 1, 1e-6); }},
                   {"a summed part of twice the rounding error", Expect::kNote,
                    [] { return Parts(2e-5, 1, 1e-6); }},
                   {"the loss compares samples with each other", Expect::kClean,
                    [] { return Parts(0.5, 0.5, 0.2); }}},
  };
}

}  // namespace dlcheck::training_loop

#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/arrangements.h"
#include "checks/signals/loss_curve.h"
#include "checks/signals/shuffled_losses.h"

namespace dlcheck::data {
namespace {

constexpr Setting kShare{
    .name = "share",
    .value = 0.8,
    .low = 0.01,
    .high = 1,
    .unit = "of the floor",
    .meaning = "losses that are below it count",
    .source = "own reasoning: 1 is the least that can be expected of any model that is not told"};
constexpr Setting kErrors{.name = "errors",
                          .value = 8,
                          .low = 1,
                          .high = 1e6,
                          .unit = "standard errors",
                          .meaning = "by which the mean loss must be below the floor",
                          .source = "own reasoning: chance alone gives 1e-15"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const LossCurve& loss,
                              const During<kHeld, Arrangements>& held,
                              const IfSeen<During<kShuffledLabels, ShuffledLosses>>& shuffled) {
  if (loss.kind.empty()) {
    return absl::FailedPreconditionError("the loss is none of those whose targets are known");
  }
  if (!held->losses.empty()) {
    return Verdict{.findings = {}, .judged = "outputs that stay when targets alone change"};
  }
  if (!shuffled) {
    return absl::NotFoundError("no run with labels dealt anew can be judged");
  }
  if (shuffled->floor <= 0) {
    return absl::FailedPreconditionError("all samples of a batch have the same label");
  }
  Verdict verdict{.findings = {},
                  .judged = StrCat("losses of ", Counted(shuffled->losses, "step"))};
  const double share = shuffled->loss / shuffled->floor;
  const double below = shuffled->floor - shuffled->loss;
  if (share >= settings[kShare] || below < settings[kErrors] * shuffled->error) return verdict;
  verdict.findings.push_back(
      {.severity = Severity::kNote,
       .message = StrCat(
           "The labels reach what is compared with them: with those of each batch dealt anew among "
           "its samples, "
           "so that nothing in a sample says which is its own, the loss still falls to ",
           Short(shuffled->loss), "; an answer that does not know them cannot be expected below ",
           Short(shuffled->floor), "."),
       .places = {},
       .first_step = shuffled->first_step,
       .last_step = shuffled->last_step,
       .count = shuffled->losses,
       .measured = share,
       .bound = settings[kShare]});
  return verdict;
}

// Losses on shuffled labels that come to rest at a share of their floor. Whether outputs stay when
// targets alone change, where that is told.
Evidence Reaches(double share, bool stays = false) {
  RunBuilder held;
  held.Process("held_order", "random");
  AddStep(held, {.held = {}});
  if (stays) held.Quantity(Quantity::kMisplacedTargets, "loss", "cross_entropy", 0, 26);
  RunBuilder run;
  for (int i = 0; i < 64; ++i) {
    AddStep(run, {.held = {}});
    run.Quantity(Quantity::kShuffledLoss, "loss", "cross_entropy",
                 1.5 * share + (i % 2 == 0 ? 0.05 : -0.05), 1.5);
  }
  Evidence evidence;
  evidence.Add(kPlain, LossesOnly(FallingLosses(64, 0.1)));
  evidence.Add(kHeld, held.Build());
  evidence.Add(kShuffledLabels, run.Build());
  return evidence;
}

}  // namespace

Check TargetLeakage() {
  return {
      .id = "data/target_leakage",
      .promise = "A model is not told the targets that it is to find.",
      .why =
          "It learns to copy them: the loss is excellent in training, and in evaluation too where "
          "the same code feeds it, and the model knows nothing.",
      .method =
          "Targets alone are changed in a batch that is held: outputs that stay are not told. "
          "Where "
          "they move, or that cannot be tried, the program runs again with the labels of each "
          "batch dealt anew among its samples before it sees them. Whatever it learns, its mean "
          "loss can then not be expected below the entropy (or variance) of the labels in the "
          "batch.",
      .fix =
          "Follow the targets from the loader: drop the column of the features that holds them, "
          "the features that are worked out from them, and a model's argument that takes them.",
      .limits =
          "Needs --deep and one label a sample, from a DataLoader, that reaches cross_entropy, "
          "nll_loss, mse_loss or binary_cross_entropy_with_logits as it is, and batches that are "
          "used "
          "once each. What leaks before the loader hands out its batches is part of the data and "
          "not "
          "seen. A note, as labels are given to a model on purpose: autoencoders of them, "
          "diffusion, "
          "prototypes or heads that are worked out from a batch.",
      .sources = {"own reasoning: an expectation over permutations, which no answer is below"},
      .covers = {"D08"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {kShare, kErrors},
      .judgement = Reads<&Judge>(),
      .examples = {{"at nine tenths of the floor", Expect::kClean, [] { return Reaches(0.9); }},
                   {"at seven tenths", Expect::kFaulty, [] { return Reaches(0.7); }},
                   {"outputs stay when targets alone change", Expect::kClean,
                    [] { return Reaches(0.7, true); }}},
  };
}

}  // namespace dlcheck::data

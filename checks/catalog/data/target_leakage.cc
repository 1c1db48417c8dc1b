#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/data/shuffled_losses.h"
#include "checks/signals/loss/loss_curve.h"
#include "checks/signals/model/arrangements.h"

namespace dlcheck::data {
namespace {

constexpr Setting kShare{
    .name = "share",
    .value = 0.8,
    .low = 0.01,
    .high = 1,
    .unit = "of the lowest honest loss",
    .meaning = "mean loss below which the check reports",
    .source =
        "own reasoning: 1 is the lowest expected loss of a model that does not see the targets"};
constexpr Setting kErrors{.name = "errors",
                          .value = 8,
                          .low = 1,
                          .high = 1e6,
                          .unit = "standard errors",
                          .meaning = "distance of the mean loss below the lowest honest loss",
                          .source = "own reasoning: chance alone gives 1e-15"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const LossCurve& loss,
                              const During<kFixedBatch, Arrangements>& held,
                              const IfSeen<During<kShuffledLabels, ShuffledLosses>>& shuffled) {
  if (loss.kind.empty()) {
    return absl::FailedPreconditionError("no supported loss function computes the loss");
  }
  if (!held->losses.empty()) {
    return Verdict{.findings = {}, .judged = "outputs that do not change with the targets"};
  }
  if (!shuffled) {
    return absl::NotFoundError("no run with permuted labels can be judged");
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
       .message = StrCat("The model sees its targets: with labels permuted within each batch, the "
                         "loss still fell to ",
                         Short(shuffled->loss),
                         ". A model that does not see them cannot be expected below ",
                         Short(shuffled->floor), "."),
       .places = {},
       .first_step = shuffled->first_step,
       .last_step = shuffled->last_step,
       .count = shuffled->losses,
       .measured = share,
       .bound = settings[kShare]});
  return verdict;
}

// Losses on permuted labels that settle at `share` of the lowest honest loss. `stays`: outputs do
// not change when only targets change.
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
  evidence.Add(kFixedBatch, held.Build());
  evidence.Add(kShuffledLabels, run.Build());
  return evidence;
}

}  // namespace

Check TargetLeakage() {
  return {
      .id = "data/target_leakage",
      .title = "The targets leak into the model's input",
      .promise = "A model does not receive the targets that it has to predict.",
      .why =
          "The model learns to copy the targets. The training loss is excellent, and so is the "
          "evaluation loss if the same code feeds it. The model knows nothing about new data.",
      .method =
          "Changes only the targets of one fixed batch. A model whose outputs do not change does "
          "not see them. Otherwise, runs the program again with labels permuted within each batch. "
          "With permuted labels, no honest model can beat the label entropy (or variance) of the "
          "batch.",
      .fix =
          "Trace the targets from the loader to the model. Drop the feature column that holds "
          "them, features computed from them, and model arguments that take them.",
      .limits = {.needs =
                     "--deep, and one label per sample from a DataLoader. The labels must reach "
                     "cross_entropy, nll_loss, mse_loss or binary_cross_entropy_with_logits "
                     "unchanged. Each batch must be used once.",
                 .silent_when =
                     "The leak is part of the data set, before the loader returns batches.",
                 .severity = "Always a note: labels as input may be intentional, as in label "
                             "autoencoders, diffusion, prototypes or heads computed from a batch.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(frame = pandas.read_csv("houses.csv")
y = torch.tensor(frame["price"].values)
x = torch.tensor(frame.values)  # still has the price column)",
                 .good = R"(frame = pandas.read_csv("houses.csv")
y = torch.tensor(frame["price"].values)
x = torch.tensor(frame.drop(columns="price").values))"},
      .cpp = {},
      .sources = {"own reasoning: an expectation over permutations, which no answer is below"},
      .covers = {"targets-in-inputs"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kUsed,
      .also_at = {Event::kFetched},
      .settings = {kShare, kErrors},
      .judgement = Reads<&Judge>(),
      .examples = {{"nine tenths of the lowest honest loss", Expect::kClean,
                    [] { return Reaches(0.9); }},
                   {"seven tenths of the lowest honest loss", Expect::kNote,
                    [] { return Reaches(0.7); }},
                   {"outputs do not change with the targets", Expect::kClean,
                    [] { return Reaches(0.7, true); }}},
  };
}

}  // namespace dlcheck::data

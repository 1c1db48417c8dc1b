#include <cmath>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/loss/initial_loss.h"
#include "checks/signals/loss/loss_curve.h"

namespace dlcheck::learnability {
namespace {

constexpr Setting kShare{
    .name = "share",
    .value = 0.95,
    .low = 0,
    .high = 10,
    .unit = "1",
    .meaning = "smallest late loss over the loss of a constant prediction",
    .source =
        "measured: 91 healthy programs end at 0.55 or less, shuffled targets at 0.94 or more"};
constexpr Setting kLosses{.name = "losses",
                          .value = 96,
                          .low = 8,
                          .high = 1e9,
                          .unit = "recorded losses",
                          .meaning = "fewest losses for a finding",
                          .source = "own reasoning: learning begins after a plateau at times"};
constexpr Setting kSamples{.name = "samples",
                           .value = 24,
                           .low = 2,
                           .high = 1e6,
                           .unit = "samples",
                           .meaning = "fewest samples for the loss of a constant prediction",
                           .source = "own reasoning: fewer have a much smaller entropy"};
// The first loss is that of the known outputs and targets, without further terms.
constexpr double kSame = 0.25;

// Why the loss of a constant prediction says nothing about this program; OK if it does.
absl::Status Judgeable(const Settings& settings, const InitialLoss& start, const LossCurve& loss) {
  if (start.pooled_samples < settings[kSamples] || !(start.pooled > 0)) {
    return absl::NotFoundError("the targets of too few samples were seen");
  }
  if (loss.optimizers > 1 && static_cast<double>(loss.points.size()) < settings[kLosses]) {
    return absl::FailedPreconditionError("several optimizers step");
  }
  if (static_cast<double>(loss.points.size()) < settings[kLosses]) {
    return absl::NotFoundError(
        StrCat("only ", Counted(static_cast<int64_t>(loss.points.size()), "loss value"),
               " recorded, but ", settings[kLosses], " are needed"));
  }
  if (loss.is_contrastive() || (start.classes > 1 && start.classes == start.batch)) {
    return absl::FailedPreconditionError("as many classes as samples: a contrastive loss");
  }
  if (!(std::abs(loss.points.front().loss / (loss.share * start.initial) - 1) < kSame)) {
    return absl::FailedPreconditionError("the loss has further terms or is not a mean");
  }
  return absl::OkStatus();
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const InitialLoss& start,
                              const LossCurve& all) {
  const LossCurve loss = all.OfTheFirstOptimizer();
  if (absl::Status status = Judgeable(settings, start, loss); !status.ok()) return status;
  const auto count = static_cast<int64_t>(loss.points.size());
  Verdict verdict{.findings = {}, .judged = Counted(count, "loss value")};
  const double late = loss.LateMedian(loss.points.size() / 4) / loss.share;
  const double share = late / start.pooled;
  if (share < settings[kShare]) return verdict;
  verdict.findings.push_back(
      {.severity = Severity::kWarning,
       .message = StrCat("After ", loss.points.back().step + 1, " steps the loss was still ",
                         Short(late), ". A constant prediction that ignores the input reaches ",
                         Short(start.pooled), "."),
       .places = {},
       .first_step = loss.points[loss.points.size() * 3 / 4].step,
       .last_step = loss.points.back().step,
       .count = count / 4,
       .measured = share,
       .bound = settings[kShare]});
  return verdict;
}

// A hundred losses that fall from 2.3 to this one; before the last `others` of them, a second
// optimizer steps. The first batch has so many samples; the targets of `pooled` more were seen.
Evidence Ending(double late, int others = 0, int first = 64, int pooled = 0) {
  RunBuilder run = TwoLayers();
  run.Quantity(Quantity::kInitialLoss, "loss", "cross_entropy", 2.3, first);
  run.Quantity(Quantity::kIndependentLoss, "loss", "cross_entropy", 2.3, first);
  run.Quantity(Quantity::kConstantLoss, "loss", "cross_entropy", first < 24 ? 1.6 : 2.3, 10);
  if (pooled > 0) {
    run.Quantity(Quantity::kPooledConstantLoss, "loss", "cross_entropy", 2.3, first + pooled);
  }
  for (int step = 0; step < 100; ++step) {
    if (100 - step == others) {
      run.Ordinal(1).Event(Event::kStep, 0, "optimizer", "optimizer#1").Ordinal(0);
    }
    AddStep(run, {.loss = step < 50 ? 2.3 : late, .held = {}});
  }
  return PlainOnly(run);
}

}  // namespace

Check NoBetterThanConstant() {
  return {
      .id = "learnability/no_better_than_constant",
      .title = "The model learns no more than a constant",
      .promise = "Training beats a constant prediction that ignores the input.",
      .why =
          "The model has learned nothing from its inputs. Targets may belong to other samples, "
          "gradients may not reach the weights, or the learning rate may be wrong.",
      .method =
          "Computes the loss of the best constant prediction: class frequencies or the mean "
          "target. Takes the targets of the first batches, up to 256. Compares the median of the "
          "last quarter of losses.",
      .fix =
          "Check that inputs and targets of a batch belong together. Run with --deep: it tests "
          "whether one batch can be learned and names what prevents it.",
      .limits = {.needs = "A loss of torch.nn with known targets, and 96 losses before a second "
                          "optimizer steps.",
                 .silent_when =
                     "Weights were loaded. The loss has further terms, or is contrastive.",
                 .severity = "",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(order = torch.randperm(len(images))
images = images[order]  # the labels stay where they are
for x, y in zip(images.split(32), labels.split(32)):
    train_step(x, y))",
                 .good = R"(order = torch.randperm(len(images))
images, labels = images[order], labels[order]
for x, y in zip(images.split(32), labels.split(32)):
    train_step(x, y))"},
      .cpp = {},
      .sources = {"measured: tests/planting"},
      .covers = {"mispaired-targets"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kShare, kLosses, kSamples},
      .judgement = Reads<&Judge>(),
      .examples = {{"a loss a tenth lower", Expect::kClean, [] { return Ending(2.07); }},
                   {"four samples a batch, and a loss a tenth lower", Expect::kClean,
                    [] { return Ending(2.07, 0, 4, 252); }},
                   {"four samples a batch, and a loss that stays", Expect::kWarning,
                    [] { return Ending(2.28, 0, 4, 252); }},
                   {"a loss that stays, and another training after it", Expect::kWarning,
                    [] { return Ending(2.28, 2); }},
                   {"a loss that stays", Expect::kWarning, [] { return Ending(2.28); }}},
  };
}

}  // namespace dlcheck::learnability

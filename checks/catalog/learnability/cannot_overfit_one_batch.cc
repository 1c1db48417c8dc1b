#include <algorithm>
#include <cmath>
#include <optional>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/signals/gradients/gradients.h"
#include "checks/signals/loss/loss_curve.h"

namespace dlcheck::learnability {
namespace {

constexpr Setting kShare{
    .name = "share",
    .value = 0.1,
    .low = 1e-6,
    .high = 1,
    .unit = "fraction",
    .meaning = "share of the first loss, above the floor, that the last losses must reach",
    .source =
        "measured: 20 of 20 seeds reach 0.1 in 100 steps with Adam at 1e-3; the worst healthy "
        "regression of tests/programs reaches 0.018"};
// Steps after which a failed fit counts; a program may take fewer steps than requested.
// Source: measured with the share, at twice the number of sufficient steps.
constexpr int64_t kEnough = 200;
constexpr size_t kLate = 10;  // losses behind the late median

// The smallest cross-entropy that smoothed labels allow: their entropy.
double Floor(const LossCurve& loss) {
  if (loss.label_smoothing <= 0 || loss.classes < 2) return 0;
  const double other = loss.label_smoothing / static_cast<double>(loss.classes);
  const double own = 1 - loss.label_smoothing + other;
  return -own * std::log(own) - static_cast<double>(loss.classes - 1) * other * std::log(other);
}

// Share of the first loss that is left, both above the floor.
double Left(const LossCurve& loss) {
  const double floor = Floor(loss);
  const double first = loss.points.front().loss - floor;
  const double late = loss.LateMedian(kLate) - floor;
  return first > 0 ? std::max(0.0, late) / first : 0;
}

template <Experiment kExperiment>
absl::StatusOr<double> LeftAfter(const IfSeen<During<kExperiment, LossCurve>>& run) {
  if (!run) return absl::NotFoundError("not run");
  return Left(*run);
}

// Values that a batch has to fit: one per sample, or one per sample and class.
double Demanded(const LossCurve& loss) {
  return loss.samples * static_cast<double>(std::max<int64_t>(1, loss.classes));
}

// Why fitting a batch cannot judge this program; OK if it can.
absl::Status Judgeable(const LossCurve& plain, const LossCurve& loss, const Gradients& gradients) {
  double elements = 0;
  for (const Gradients::Parameter& parameter : gradients.parameters) elements += parameter.elements;
  if (elements < Demanded(loss)) {
    return absl::FailedPreconditionError(StrCat(
        "the model has only ", elements, " parameters to memorize ", Demanded(loss), " values"));
  }
  if (loss.is_contrastive()) {
    return absl::FailedPreconditionError("a contrastive loss cannot come near zero");
  }
  if (loss.loaded && !plain.loaded) {
    return absl::FailedPreconditionError(
        "the run on one batch started from the saved state of another run");
  }
  if (loss.optimizers > 1) {
    return absl::FailedPreconditionError("several optimizers step, possibly of different models");
  }
  if (!std::isfinite(loss.points.front().loss)) {
    return absl::FailedPreconditionError("the first loss is not finite");
  }
  return absl::OkStatus();
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const LossCurve& plain,
                              const Gradients& gradients, const During<kOneBatch, LossCurve>& loss,
                              const IfSeen<During<kOneBatchFaster, LossCurve>>& faster,
                              const IfSeen<During<kOneBatchSlower, LossCurve>>& slower,
                              const IfSeen<During<kOneBatchLonger, LossCurve>>& longer) {
  const auto points = static_cast<int64_t>(loss->points.size());
  DLCHECK_RETURN_IF_ERROR(Judgeable(plain, *loss, gradients));
  double best = Left(*loss);
  for (const absl::StatusOr<double>& left :
       {LeftAfter(faster), LeftAfter(slower), LeftAfter(longer)}) {
    if (left.ok()) best = std::min(best, *left);
  }
  const double bound = settings[kShare];
  Verdict verdict{.findings = {}, .judged = StrCat("one batch, ", Counted(points, "step"))};
  if (best <= bound) return verdict;
  if (points < kEnough) {
    return absl::NotFoundError(StrCat("the program made only ", points, " of ", kEnough,
                                      " steps on one batch and did not fit it"));
  }
  const bool is_plain = loss->doubt.empty();
  verdict.findings.push_back(
      {.severity = is_plain ? Severity::kError : Severity::kNote,
       .message = StrCat(
           "The model could not fit one batch: after ", points,
           " steps on the same samples with a reference optimizer (Adam), ", Short(100 * best),
           " % of the first loss (", Short(loss->points.front().loss),
           ") remained. A healthy model reaches ", Short(100 * bound), " % or less",
           is_plain ? "" : StrCat(", unless its loss cannot come near zero: ", loss->doubt), "."),
       .places = {},
       .first_step = 0,
       .last_step = points - 1,
       .count = 1,
       .measured = best,
       .bound = bound});
  return verdict;
}

Evidence FitsTo(double floor, double share = 1) {
  RunBuilder plain = TwoLayers();
  AddStep(plain, {.held = {}});
  Evidence evidence = PlainOnly(plain);
  for (const Experiment& experiment :
       {kOneBatch, kOneBatchFaster, kOneBatchSlower, kOneBatchLonger}) {
    evidence.Add(experiment,
                 LossesOnly(FallingLosses(static_cast<int>(experiment.steps), floor), share));
  }
  return evidence;
}

}  // namespace

Check CannotOverfitOneBatch() {
  return {
      .id = "learnability/cannot_overfit_one_batch",
      .title = "The model cannot overfit one batch",
      .promise = "The model can fit a single batch.",
      .why =
          "A model that cannot memorize a few samples has a fault between inputs and loss. More "
          "data and more time will not help.",
      .method =
          "Trains on the first batch at every step, with dropout off and Adam instead of the "
          "program's optimizer. The learning rate is 1e-3, then 1e-2, 3e-4, and 1e-3 for three "
          "times as long, until the batch fits. Compares the median of the last losses with the "
          "first loss, above the floor of label smoothing.",
      .fix =
          "Look between logits and loss. Typical causes: a softmax before cross_entropy, a ReLU on "
          "the logits, targets in another order, a detached part of the model.",
      .limits = {.needs = "--deep, one optimizer, and a program that takes 200 steps on one batch.",
                 .silent_when = "The model has fewer parameters than the batch has values to fit. "
                                "The loss is contrastive.",
                 .severity = "Error. Note if the loss may have an unknown floor. Causes are "
                             "further terms, several targets per sample, integer inputs, frozen "
                             "parameters, and losses other than cross-entropy and squared error.",
                 .blind_spots = "Equal samples with different labels cannot be fitted.",
                 .sensitivity = ""},
      .python = {.bad = R"(class Net(nn.Module):
    def forward(self, x):
        x = F.relu(self.fc1(x))
        return F.relu(self.fc2(x))  # ReLU on the logits

loss = F.cross_entropy(net(x), y))",
                 .good = R"(class Net(nn.Module):
    def forward(self, x):
        x = F.relu(self.fc1(x))
        return self.fc2(x)

loss = F.cross_entropy(net(x), y))"},
      .cpp = {.bad = R"(torch::Tensor forward(torch::Tensor x) {
  x = torch::relu(fc1(x));
  return torch::relu(fc2(x));  // ReLU on the logits
})",
              .good = R"(torch::Tensor forward(torch::Tensor x) {
  x = torch::relu(fc1(x));
  return fc2(x);
})"},
      .sources = {"Karpathy 2019, A Recipe for Training Neural Networks: overfit one batch",
                  "measured: 20 seeds a rung"},
      .covers = {"restricting-output-activation", "softmax-before-log-softmax-loss"},
      .explains = {"training_loop/flat_loss", "learnability/no_better_than_constant"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {kShare},
      .judgement = Reads<&Judge>(),
      .examples =
          {
              {"nearly a tenth of the loss remains", Expect::kClean, [] { return FitsTo(0.2); }},
              {"more than a tenth of the loss remains", Expect::kError,
               [] { return FitsTo(0.25); }},
              {"more than a tenth of a loss with further terms remains", Expect::kNote,
               [] { return FitsTo(0.25, 0.8); }},
          },
  };
}

}  // namespace dlcheck::learnability

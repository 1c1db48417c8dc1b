#include <algorithm>
#include <cmath>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/engine/whole.h"
#include "checks/signals/loss/initial_loss.h"

namespace dlcheck::initialization {
namespace {

constexpr Setting kExcess{
    .name = "excess",
    .value = 10,
    .low = 0.1,
    .high = 100,
    .unit = "times ln C",
    .meaning = "loss above that of the best constant prediction, for an error",
    .source =
        "measured: 0.05 with default initialization, 0.7 on average and 1.7 at most with He "
        "initialization and ln C = 2.3, 12.6 with inputs times 255"};
constexpr Setting kSuspicious{
    .name = "suspicious",
    .value = 0.8,
    .low = 0.01,
    .high = 100,
    .unit = "times ln C",
    .meaning = "loss above that of the best constant prediction, for a warning",
    .source = "above the largest measured value of a network that trains"};
constexpr Setting kDependence{
    .name = "dependence",
    .value = 0.5,
    .low = 0,
    .high = 1,
    .unit = "fraction",
    .meaning = "largest relative distance of the loss from the loss on shuffled targets",
    .source = "measured: at most 0.20 in 50 seeds of 8 set-ups"};
constexpr Setting kFew{.name = "few",
                       .value = 24,
                       .low = 2,
                       .high = 1e6,
                       .unit = "samples",
                       .meaning = "fewest samples for the excess",
                       .source = "own reasoning: the excess does not depend on the drawn targets"};
constexpr Setting kMany{.name = "many",
                        .value = 256,
                        .low = 2,
                        .high = 1e6,
                        .unit = "samples",
                        .meaning = "fewest samples for the dependence on targets",
                        .source = "measured with the dependence"};
// Squared error over that of predicting the mean. Source: measured: 2.9 for the temporal difference
// of a healthy Q network, 41 for unscaled targets of 20 +- 3.
constexpr double kRegressionRatio = 10;
// Loss over that with shuffled targets, from which on the scores are taken to have a margin.
constexpr double kMargin = 1.25;

Finding Found(Severity severity, std::string message, double measured, double bound) {
  return {severity, std::move(message), {}, 0, 0, 1, measured, bound};
}

void JudgeClassification(const Settings& settings, const InitialLoss& loss, Verdict& verdict) {
  const double dependence = std::abs(loss.initial - loss.independent) / loss.independent;
  const bool enough = loss.samples >= settings[kMany];
  if (enough && dependence > settings[kDependence]) {
    verdict.findings.push_back(Found(
        Severity::kNote,
        StrCat("Before the first step the loss was ", Short(loss.initial), ", but ",
               Short(loss.independent),
               " with shuffled targets: either the weights were already trained, the targets "
               "leak into the inputs, or the model compares samples, as nearest neighbors do."),
        dependence, settings[kDependence]));
    return;  // a trained model has large outputs, so the excess says nothing
  }
  const double unit = std::log(loss.classes);
  // Equal outputs are a good start whatever the class frequencies are.
  // Scores that a model masks are huge, and no target is there: its own loss is small.
  const double excess =
      (std::min(loss.initial, loss.independent) - std::max(loss.constant, unit)) / unit;
  if (excess <= settings[kSuspicious]) return;
  // Losses with a margin take something from the score of the target, by design.
  const bool has_margin = loss.initial > kMargin * loss.independent;
  const bool error = excess > settings[kExcess] && !has_margin;
  verdict.findings.push_back(
      Found(has_margin ? Severity::kNote
            : error    ? Severity::kError
                       : Severity::kWarning,
            StrCat("The initial loss was ", Short(loss.independent), " on ",
                   Counted(Whole(loss.samples), "sample"), ", but ", Short(loss.constant),
                   " for a constant prediction. The excess is ", Short(excess), " times ln ",
                   loss.classes, ": the outputs start far too large."),
            excess, error ? settings[kExcess] : settings[kSuspicious]));
}

void JudgeRegression(const InitialLoss& loss, Verdict& verdict) {
  const double ratio = loss.independent / loss.constant;
  if (ratio <= kRegressionRatio) return;
  verdict.findings.push_back(
      Found(Severity::kNote,
            StrCat("The initial squared error was ", Short(loss.independent), ", ", Short(ratio),
                   " times that of predicting the mean target (", Short(loss.constant), ")."),
            ratio, kRegressionRatio));
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const InitialLoss& loss) {
  if (loss.samples < settings[kFew]) {
    return absl::NotFoundError(StrCat(
        "only ", loss.samples, " samples before the first step instead of ", settings[kFew]));
  }
  Verdict verdict{.findings = {}, .judged = Counted(Whole(loss.samples), "sample")};
  if (!(loss.constant > 0)) return absl::FailedPreconditionError("all targets are equal");
  if (!std::isfinite(loss.independent) || !std::isfinite(loss.initial)) {
    return absl::FailedPreconditionError("the initial loss is not finite");
  }
  if (loss.classes > 1 && loss.classes == loss.batch) {
    return absl::FailedPreconditionError("as many classes as samples: a contrastive loss");
  }
  if (loss.classes <= 1) {
    JudgeRegression(loss, verdict);
  } else {
    JudgeClassification(settings, loss, verdict);
  }
  return verdict;
}

Evidence Starting(double initial, double independent, double constant, double samples = 359) {
  RunBuilder run = TwoLayers();
  run.Quantity(Quantity::kInitialLoss, "loss", "cross_entropy", initial, samples);
  run.Quantity(Quantity::kIndependentLoss, "loss", "cross_entropy", independent, samples);
  run.Quantity(Quantity::kConstantLoss, "loss", "cross_entropy", constant, 10);
  AddStep(run, {.held = {}});
  return PlainOnly(run);
}

}  // namespace

Check WrongInitialLoss() {
  return {
      .id = "initialization/wrong_initial_loss",
      .title = "The initial loss is far too high or too low",
      .promise = "The initial loss is near that of a constant prediction.",
      .why =
          "Outputs that start too large must first be unlearned and saturate later layers. They "
          "show that inputs or weights have the wrong scale.",
      .method =
          "Takes outputs z, class frequencies p and independent targets. Computes excess = "
          "mean(logsumexp z) - sum_c p_c mean(z_c) - ln C, in units of ln C. Computes dependence = "
          "|loss - independent loss| / independent loss. For squared errors, computes the ratio to "
          "the variance of the targets.",
      .fix =
          "Scale the inputs to about unit size. Initialize the last layer small, with its bias at "
          "the log frequencies of the classes. Check that no weights were loaded by mistake.",
      .limits =
          {.needs = "A loss with known targets for 24 samples before the first step, and "
                    "weights that were not loaded.",
           .silent_when = "All targets are equal. There are as many classes as samples, as "
                          "in a contrastive loss.",
           .severity =
               "Error for an excess above `excess`. Warning above `suspicious`. Note for a "
               "dependence on the targets, for a margin, and for large targets of a regression.",
           .blind_spots = "With fewer samples than `many`, only the excess is judged.",
           .sensitivity = ""},
      .python = {.bad = R"(x = images.float()  # values from 0 to 255
logits = model(x)
loss = F.cross_entropy(logits, y))",
                 .good = R"(x = images.float() / 255
logits = model((x - 0.5) / 0.25)
loss = F.cross_entropy(logits, y))"},
      .cpp = {.bad = R"(auto x = images.to(torch::kFloat);  // values from 0 to 255
auto loss = F::cross_entropy(model->forward(x), y);)",
              .good = R"(auto x = images.to(torch::kFloat) / 255;
auto loss = F::cross_entropy(model->forward((x - 0.5) / 0.25), y);)"},
      .sources = {"Karpathy 2019, A Recipe for Training Neural Networks: verify loss at init",
                  "measured: 50 seeds of 8 set-ups"},
      .covers = {"wrong-initial-variance", "unscaled-regression-targets", "unnormalized-inputs"},
      .explains = {"learnability/input_independence", "gradients/exploding",
                   "learnability/cannot_overfit_one_batch", "optimizer/lr_too_large"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {kExcess, kSuspicious, kDependence, kFew, kMany},
      .judgement = Reads<&Judge>(),
      .examples = {{"the largest loss with He initialization", Expect::kClean,
                    [] { return Starting(4.0, 4.0, 2.3); }},
                   {"huge scores where no target is", Expect::kClean,
                    [] { return Starting(1.1, 2500, 1.4, 192); }},
                   {"a margin at the target", Expect::kNote,
                    [] { return Starting(10.8, 7.6, 3.1, 50); }},
                   {"equal outputs, with one class in ten thousand", Expect::kClean,
                    [] { return Starting(2.3, 2.3, 0.001); }},
                   {"a slightly larger loss", Expect::kWarning,
                    [] { return Starting(4.3, 4.3, 2.3); }},
                   {"outputs fifteen times too large", Expect::kError,
                    [] { return Starting(30, 30, 2.3); }},
                   {"weights that are already trained", Expect::kNote,
                    [] { return Starting(1.0, 2.3, 2.3); }}},
  };
}

}  // namespace dlcheck::initialization

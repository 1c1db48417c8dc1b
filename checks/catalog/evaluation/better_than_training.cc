#include <algorithm>
#include <limits>
#include <vector>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/evaluation/evaluation_losses.h"
#include "checks/signals/loss/loss_curve.h"
#include "checks/signals/run/statistics.h"

namespace dlcheck::evaluation {
namespace {

constexpr Setting kEvaluations{.name = "evaluations",
                               .value = 3,
                               .low = 1,
                               .high = 1e6,
                               .unit = "evaluations",
                               .meaning = "fewest evaluations in a row",
                               .source = "own reasoning"};
constexpr Setting kRatio{.name = "ratio",
                         .value = 2,
                         .low = 1,
                         .high = 1e6,
                         .unit = "1",
                         .meaning = "training loss over evaluation loss",
                         .source = "own reasoning: classes of one data set differ by less"};
constexpr size_t kNear = 16;  // training losses after an evaluation

using Model = EvaluationLosses::Model;

// The median of the next training losses after this step; infinite if there are too few.
double TrainingLossAfter(int64_t step, const LossCurve& curve) {
  const auto begin = std::ranges::lower_bound(curve.points, step, {}, &LossCurve::Point::step);
  if (curve.points.end() - begin < static_cast<std::ptrdiff_t>(kNear / 2)) {
    return std::numeric_limits<double>::infinity();
  }
  std::vector<double> losses;
  for (auto at = begin; at != curve.points.end() && losses.size() < kNear; ++at) {
    losses.push_back(at->loss);
  }
  return Median(std::move(losses));
}

// By how much training is worse in each evaluation that training follows.
std::vector<double> RatiosOf(const Model& model, const LossCurve& curve) {
  std::vector<double> ratios;
  for (const EvaluationLosses::Point& point : model.points) {
    const double training = TrainingLossAfter(point.step, curve);
    if (training == std::numeric_limits<double>::infinity()) break;
    ratios.push_back(point.loss > 0 ? training / point.loss : 0);
  }
  return ratios;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const EvaluationLosses& losses,
                              const LossCurve& curve) {
  if (curve.optimizers > 1) return absl::FailedPreconditionError("several optimizers step");
  if (!curve.logged && !curve.doubt.empty()) return absl::FailedPreconditionError(curve.doubt);
  if (curve.label_smoothing > 0) {
    return absl::FailedPreconditionError("the training loss smooths its labels");
  }
  Verdict verdict;
  int64_t judged = 0;
  for (const Model& model : losses.models) {
    const std::vector<double> ratios = RatiosOf(model, curve);
    const auto fewest = static_cast<size_t>(settings[kEvaluations]);
    if (ratios.size() < fewest) continue;
    judged += static_cast<int64_t>(ratios.size());
    const double ratio =
        *std::min_element(ratios.end() - static_cast<std::ptrdiff_t>(fewest), ratios.end());
    if (ratio < settings[kRatio]) continue;
    const auto& last = model.points[ratios.size() - 1];
    verdict.findings.push_back(
        {.severity = Severity::kNote,
         .message = StrCat("The evaluation loss was ", Short(last.loss), " at step ", last.step,
                           ". The next training losses were at least ", Short(ratio),
                           " times as high, as after the ", fewest - 1, " evaluations before it."),
         .places = {{.thing = model.name, .file = ""}},
         .first_step = model.points[ratios.size() - fewest].step,
         .last_step = last.step,
         .count = static_cast<int64_t>(fewest),
         .measured = ratio,
         .bound = settings[kRatio]});
  }
  if (judged == 0) {
    return absl::NotFoundError(StrCat("no model had ", settings[kEvaluations],
                                      " evaluations with a loss and training after them"));
  }
  verdict.judged = Counted(judged, "evaluation");
  return verdict;
}

// Eight evaluations, ten steps apart, between training losses of 1.
Evidence Evaluated(double loss) {
  std::vector<double> losses(100, 1.0);
  RunBuilder run;
  run.Attribute("loss", "cross_entropy", "kind", "cross_entropy");
  for (size_t step = 0; step < losses.size(); ++step) {
    run.Quantity(Quantity::kInputNorm, "model", "Net", 1);
    run.Quantity(Quantity::kLossShare, "loss", "cross_entropy", 1, 32);
    run.Quantity(Quantity::kLoss, "loss", "cross_entropy", losses[step], 32);
    run.Event(Event::kStep, 0, "optimizer", "optimizer#0");
    if (step % 10 == 9) run.Quantity(Quantity::kEvaluationLoss, "model", "Net", loss, 64);
  }
  return PlainOnly(run);
}

}  // namespace

Check BetterThanTraining() {
  return {
      .id = "evaluation/better_than_training",
      .title = "The evaluation is much better than training",
      .promise = "The evaluation loss is not far below the training loss.",
      .why =
          "Data that the model has not seen is harder than data that it was trained on. A much "
          "lower loss speaks for another loss, an easier data set, or a leak.",
      .method =
          "Compares each evaluation loss with the median of the 16 training losses that follow. "
          "The last three must all lie below half of it.",
      .fix =
          "Compute both losses by the same function and reduction, on inputs that were "
          "preprocessed in the same way. Look for training samples in the evaluation data.",
      .limits = {.needs =
                     "Three evaluations of one size with a loss, each followed by eight steps. "
                     "A mean cross-entropy or squared error in training, or a log.",
                 .silent_when = "The training loss has dropout, label smoothing or further terms.",
                 .severity = "Always a note: augmentation makes training data harder.",
                 .blind_spots = "Metrics other than the loss.",
                 .sensitivity = ""},
      .python = {.bad = R"(train_loss = F.cross_entropy(model(x), y)
eval_loss = F.cross_entropy(model(x_val), y_val) / len(val_loader))",
                 .good = R"(train_loss = F.cross_entropy(model(x), y)
eval_loss = F.cross_entropy(model(x_val), y_val))"},
      .cpp = {.bad = R"(auto train_loss = F::cross_entropy(model->forward(x), y);
auto val_loss = F::cross_entropy(model->forward(x_val), y_val) / batches;)",
              .good = R"(auto train_loss = F::cross_entropy(model->forward(x), y);
auto val_loss = F::cross_entropy(model->forward(x_val), y_val);)"},
      .sources = {"own reasoning"},
      .covers = {"evaluation-easier-than-training"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kEvaluationForward,
      .also_at = {Event::kFetched},
      .settings = {kEvaluations, kRatio},
      .judgement = Reads<&Judge>(),
      .examples = {{"an equal loss", Expect::kClean, [] { return Evaluated(1); }},
                   {"a loss somewhat lower", Expect::kClean, [] { return Evaluated(0.6); }},
                   {"a tenth of the loss", Expect::kNote, [] { return Evaluated(0.1); }}},
  };
}

}  // namespace dlcheck::evaluation

#include <algorithm>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/evaluation/evaluation_losses.h"
#include "checks/signals/loss/loss_curve.h"

namespace dlcheck::evaluation {
namespace {

constexpr Setting kEvaluations{.name = "evaluations",
                               .value = 6,
                               .low = 4,
                               .high = 1e6,
                               .unit = "evaluations",
                               .meaning = "fewest evaluations for a finding",
                               .source = "own reasoning"};
constexpr Setting kRise{.name = "rise",
                        .value = 1.3,
                        .low = 1,
                        .high = 1e6,
                        .unit = "1",
                        .meaning = "loss of the last evaluation over the least loss",
                        .source = "own reasoning: a single evaluation may be an outlier"};
constexpr Setting kSteadyRise{.name = "steady_rise",
                              .value = 1.15,
                              .low = 1,
                              .high = 1e6,
                              .unit = "1",
                              .meaning = "the same, if the evaluation before it is worse, too",
                              .source = "own reasoning"};
constexpr double kWorse = 1.05;  // times the least loss

using Model = EvaluationLosses::Model;
using Point = EvaluationLosses::Point;

// The training loss fell on after this step: the median after it is below that before it.
bool FellAfter(int64_t step, const LossCurve& curve) {
  const auto later = std::ranges::count_if(
      curve.points, [step](const LossCurve::Point& point) { return point.step >= step; });
  const size_t after = static_cast<size_t>(later), all = curve.points.size();
  if (after < 4 || all - after < 4) return false;
  LossCurve before = curve;
  before.points.resize(all - after);
  const double end = curve.LateMedian(after / 2);
  return end < before.LateMedian((all - after) / 2) && end > 0;
}

bool Rises(const Settings& settings, const std::vector<Point>& points, double least) {
  const double last = points.back().loss / least, before = points[points.size() - 2].loss / least;
  return last >= settings[kRise] || (last >= settings[kSteadyRise] && before >= kWorse);
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const EvaluationLosses& losses,
                              const LossCurve& curve) {
  Verdict verdict;
  int64_t judged = 0;
  for (const Model& model : losses.models) {
    const auto count = static_cast<int64_t>(model.points.size());
    if (static_cast<double>(count) < settings[kEvaluations]) continue;
    judged += count;
    const auto least = std::ranges::min_element(model.points, {}, &Point::loss);
    if (!(least->loss > 0) || !Rises(settings, model.points, least->loss)) continue;
    if (!FellAfter(least->step, curve)) continue;
    const Point& last = model.points.back();
    verdict.findings.push_back(
        {.severity = Severity::kNote,
         .message = StrCat("The evaluation loss was lowest at step ", least->step, " (",
                           Short(least->loss), ") and ", Short(last.loss), " at step ", last.step,
                           ", while the training loss fell on."),
         .places = {{.thing = model.name, .file = ""}},
         .first_step = least->step,
         .last_step = last.step,
         .count = static_cast<int64_t>(model.points.end() - least) - 1,
         .measured = last.loss / least->loss,
         .bound = settings[kRise]});
  }
  if (judged == 0) {
    return absl::NotFoundError(
        StrCat("no model had ", settings[kEvaluations], " evaluations with a loss"));
  }
  verdict.judged = Counted(judged, "evaluation");
  return verdict;
}

// Eight evaluations, ten steps apart; their loss goes to 1 and then to `late`, the training loss to
// `trained`.
Evidence Evaluations(double late, double trained = 0.1) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 80; ++step) {
    AddStep(run, {.loss = step < 40 ? 1.0 : trained, .held = {}});
    if (step % 10 != 9) continue;
    run.Quantity(Quantity::kEvaluationLoss, "model", "Net", step < 40 ? 1.2 - step * 0.005 : late,
                 64);
  }
  return PlainOnly(run);
}

}  // namespace

Check RisingLoss() {
  return {
      .id = "evaluation/rising_loss",
      .title = "The evaluation loss rises, and training goes on",
      .promise = "Training ends before its evaluations get worse.",
      .why =
          "The model fits noise of its training data. The last weights are worse than earlier "
          "ones.",
      .method =
          "Compares the last evaluation loss of a model with its least one. Reports 1.3 times the "
          "least, or 1.15 times if the evaluation before it is worse, too. The training loss must "
          "have fallen since.",
      .fix =
          "Check first that evaluation inputs are prepared as the training inputs are. Keep the "
          "weights of the best evaluation. Stop earlier, add data or weight decay, or use a "
          "smaller model.",
      .limits = {.needs = "Six evaluations of one size with a loss of torch.nn.",
                 .silent_when = "Fewer than six evaluations have the same size.",
                 .severity = "Always a note: accuracy may improve while the loss rises.",
                 .blind_spots = "A program that keeps its best weights looks the same.",
                 .sensitivity = ""},
      .python = {.bad = R"(for epoch in range(500):
    train(model, loader)
    print(evaluate(model, held_out)))",
                 .good = R"(for epoch in range(500):
    train(model, loader)
    if evaluate(model, held_out) < best:
        best = save(model)
    elif epoch > best.epoch + patience:
        break)"},
      .cpp = {.bad = R"(for (int epoch = 0; epoch < 500; ++epoch) {
  TrainOneEpoch(model, *loader, optimizer);
  std::cout << Evaluate(model, *val_loader);
})",
              .good =
                  R"(for (int epoch = 0; epoch < 500 && epoch <= best_epoch + patience; ++epoch) {
  TrainOneEpoch(model, *loader, optimizer);
  const double loss = Evaluate(model, *val_loader);
  if (loss >= best) continue;
  best = loss;
  best_epoch = epoch;
  torch::save(model, "best.pt");
})"},
      .sources = {"Prechelt 1998: Early Stopping - But When?"},
      .covers = {"unnoticed-overfitting"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kEvaluationForward,
      .also_at = {Event::kFetched},
      .settings = {kEvaluations, kRise, kSteadyRise},
      .judgement = Reads<&Judge>(),
      .examples = {{"a loss that stays", Expect::kClean, [] { return Evaluations(1.1); }},
                   {"a loss that rises with that of training", Expect::kClean,
                    [] { return Evaluations(2, 3); }},
                   {"a loss that rises", Expect::kNote, [] { return Evaluations(2); }}},
  };
}

}  // namespace dlcheck::evaluation

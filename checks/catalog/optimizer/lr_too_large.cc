#include <algorithm>
#include <cmath>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/loss/loss_curve.h"
#include "checks/signals/optimizer/relative_updates.h"

namespace dlcheck::optimizer {
namespace {

constexpr Setting kRise{
    .name = "rise",
    .value = 10,
    .low = 2,
    .high = 1e9,
    .unit = "1",
    .meaning = "largest loss of the first updates over the first loss",
    .source = "measured: 91 healthy programs stay below 1.8, a 1000-fold rate exceeds 50 in most"};
constexpr Setting kUpdate{
    .name = "update",
    .value = 0.2,
    .low = 0.01,
    .high = 1e3,
    .unit = "1",
    .meaning = "smallest relative update that can be too large",
    .source = "measured: healthy first updates move weights by 0.001 to 0.16 of their norm"};
// Updates in which a rate that is too large shows; later, schedules and targets change.
constexpr int64_t kFirst = 8;

absl::StatusOr<Verdict> Judge(const Settings& settings, const LossCurve& loss,
                              const RelativeUpdates& updates) {
  Verdict verdict{.findings = {}, .judged = Counted(std::min(kFirst, updates.steps), "update")};
  const LossCurve::Point& first = loss.points.front();
  const double before = std::abs(first.loss);
  if (!std::isfinite(before) || before == 0) {
    return absl::FailedPreconditionError("the first loss is zero or not finite");
  }
  const LossCurve::Point* worst = nullptr;
  for (const LossCurve::Point& point : loss.points) {
    if (point.step <= first.step || point.step > first.step + kFirst) continue;
    const bool is_worse = worst == nullptr || !(point.loss <= worst->loss);
    if (is_worse && !std::isnan(point.loss)) worst = &point;
  }
  const RelativeUpdates::Optimizer* moved = nullptr;
  double largest = 0;
  for (const RelativeUpdates::Optimizer& optimizer : updates.optimizers) {
    for (const RelativeUpdates::Step& step : optimizer.steps) {
      if (step.step > first.step + kFirst || step.ratio <= largest) continue;
      moved = &optimizer;
      largest = step.ratio;
    }
  }
  if (worst == nullptr || moved == nullptr || largest < settings[kUpdate]) return verdict;
  const double rise = worst->loss / before;
  if (rise < settings[kRise]) return verdict;
  verdict.findings.push_back(
      {.severity = Severity::kWarning,
       .message = StrCat("The first updates raised the loss from ", Short(first.loss), " to ",
                         Short(worst->loss), " at step ", worst->step, ": one update of ",
                         moved->name, " moved the weights by ", Short(largest), " of their norm."),
       .places = {{.thing = moved->name, .file = ""}},
       .first_step = first.step,
       .last_step = worst->step,
       .count = 1,
       .measured = rise,
       .bound = settings[kRise]});
  return verdict;
}

// Four steps from a loss of 2.3, whose updates have this norm, of weights of norm 8.
Evidence Rising(double loss, double update) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 4; ++step) {
    run.Owner("optimizer", "optimizer#0");
    run.Quantity(Quantity::kWeightNorm, "parameter", "trunk.weight", 8);
    run.Quantity(Quantity::kUpdateNorm, "parameter", "trunk.weight", update);
    run.Owner("");
    AddStep(run, {.loss = step == 0 ? 2.3 : loss, .held = {}});
  }
  return PlainOnly(run);
}

}  // namespace

Check LrTooLarge() {
  return {
      .id = "optimizer/lr_too_large",
      .title = "The learning rate is far too large",
      .promise = "The first updates do not raise the loss many-fold.",
      .why =
          "The first updates throw the initial weights away. The model starts from saturated "
          "units and huge outputs, and often never recovers.",
      .method =
          "Compares the losses of the first eight updates with the first loss. Compares the norm "
          "of each update with the norm of the weights.",
      .fix = "Lower the learning rate by a factor of ten until the first losses no longer rise.",
      .limits = {.needs = "A first loss that is not zero, and weights that were measured.",
                 .silent_when = "The loss rises while updates stay small against the weights.",
                 .severity = "",
                 .blind_spots = "A rate that is a few times too large raises the loss less.",
                 .sensitivity = ""},
      .python = {.bad = R"(optimizer = torch.optim.Adam(model.parameters(), lr=1.0)
for x, y in loader:
    optimizer.zero_grad()
    criterion(model(x), y).backward()
    optimizer.step())",
                 .good = R"(optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for x, y in loader:
    optimizer.zero_grad()
    criterion(model(x), y).backward()
    optimizer.step())"},
      .cpp = {.bad = R"(torch::optim::Adam optimizer(model->parameters(), /*lr=*/1);
TrainOneEpoch(model, *loader, optimizer);)",
              .good = R"(torch::optim::Adam optimizer(model->parameters(), /*lr=*/1e-3);
TrainOneEpoch(model, *loader, optimizer);)"},
      .sources = {"measured: tests/planting"},
      .covers = {"unsuitable-learning-rate"},
      .explains = {"training_loop/loss_spike", "numerics/nonfinite_values", "gradients/exploding",
                   "learnability/no_better_than_constant", "gradients/vanishing",
                   "training_loop/diverging_loss", "training_loop/oscillating_loss",
                   "model/dead_relu_units", "model/saturated_units", "gradients/missing"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kOptimizerBuilt,
      .settings = {kRise, kUpdate},
      .judgement = Reads<&Judge>(),
      .examples = {{"a loss nine times as high", Expect::kClean, [] { return Rising(20, 4); }},
                   {"a loss twelve times as high", Expect::kWarning, [] { return Rising(28, 4); }},
                   {"the same after small updates", Expect::kClean,
                    [] { return Rising(28, 0.8); }}},
  };
}

}  // namespace dlcheck::optimizer

#include <algorithm>
#include <cmath>
#include <vector>

#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/findings/odd_step.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/loss/loss_curve.h"

namespace dlcheck::training_loop {
namespace {

constexpr Setting kJump{
    .name = "jump",
    .value = 10,
    .low = 1,
    .high = 1e9,
    .unit = "1",
    .meaning = "smallest jump, over the largest loss before it",
    .source = "measured: no healthy program exceeds its largest loss so far tenfold"};
// Losses before a jump, and those after it whose median must still be high.
constexpr size_t kBefore = 16, kAfter = 4;
constexpr double kStill = 1.5;

double MedianOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const LossCurve& loss,
                              const IfSeen<LearningRates>& rates,
                              const IfSeen<Gradients>& gradients) {
  if (loss.optimizers > 1) return absl::FailedPreconditionError("several optimizers step");
  const auto& points = loss.points;
  // What is not finite is the finding of another check.
  const auto odd = std::ranges::find_if(
      points, [](const LossCurve::Point& point) { return !std::isfinite(point.loss); });
  const auto count = static_cast<size_t>(odd - points.begin());
  if (count < kBefore + kAfter) {
    return absl::NotFoundError(
        StrCat("only ", Counted(static_cast<int64_t>(count), "finite loss"), " recorded"));
  }
  Verdict verdict{.findings = {}, .judged = Counted(static_cast<int64_t>(count), "loss value")};
  double largest = 0;
  for (size_t at = 0; at + kAfter < count; ++at) {
    const double now = points[at].loss;
    if (at >= kBefore && largest > 0 && now > settings[kJump] * largest) {
      std::vector<double> before, after;
      for (size_t i = at - kBefore; i < at; ++i) before.push_back(points[i].loss);
      for (size_t i = at + 1; i <= at + kAfter; ++i) after.push_back(points[i].loss);
      const double level = MedianOf(before);
      if (MedianOf(after) < kStill * level) continue;  // a single odd batch
      verdict.findings.push_back(
          {.severity = Severity::kWarning,
           .message = StrCat("In step ", points[at].step, " the loss jumped from ", Short(level),
                             " to ", Short(now), " and stayed high.",
                             OddRecordOf(points[at].step - 1, rates, gradients)),
           .places = {},
           .first_step = points[at].step,
           .last_step = points[at + kAfter].step,
           .count = 1,
           .measured = now / largest,
           .bound = settings[kJump]});
      return verdict;
    }
    largest = std::max(largest, now);
  }
  return verdict;
}

// Sixty losses that fall slowly; from the thirtieth on, so many are this much higher. The step
// before that has so many times the learning rate.
Evidence Jumping(double factor, int losses, double rate = 1) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 60; ++step) {
    run.Quantity(Quantity::kLearningRate, "group", "optimizer#0/group#0",
                 step == 29 ? 0.1 * rate : 0.1);
    const double loss = 2.3 / (1 + 0.05 * step);
    AddStep(run, {.loss = step >= 30 && step < 30 + losses ? factor * loss : loss, .held = {}});
  }
  return PlainOnly(run);
}

}  // namespace

Check LossSpike() {
  return {
      .id = "training_loop/loss_spike",
      .title = "The loss jumps up during training",
      .promise = "The loss does not jump far above all losses before it.",
      .why =
          "One bad batch or one step that is too large can undo what was learned. Training goes "
          "on from a much worse model.",
      .method =
          "Compares each loss with the largest one before it, and the losses after a jump with "
          "those before it. Names a learning rate or a gradient norm of the step before the jump "
          "that is five times the usual one.",
      .fix =
          "Clip gradients by norm, lower the learning rate or warm it up, and look at the batch "
          "of that step.",
      .limits = {.needs = "One optimizer and 20 losses.",
                 .silent_when = "The loss returns to its level within two steps.",
                 .severity = "Always a warning.",
                 .blind_spots = "Jumps that stay below the highest loss so far.",
                 .sensitivity = ""},
      .python = {.bad = R"(for x, y in loader:
    optimizer.zero_grad()
    loss(model(x), y).backward()
    optimizer.step())",
                 .good = R"(for x, y in loader:
    optimizer.zero_grad()
    loss(model(x), y).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step())"},
      .cpp = {.bad = R"(optimizer.zero_grad();
criterion(model->forward(x), y).backward();
optimizer.step();)",
              .good = R"(optimizer.zero_grad();
criterion(model->forward(x), y).backward();
nn::utils::clip_grad_norm_(model->parameters(), 1);
optimizer.step();)"},
      .sources = {"measured: losses of the healthy programs of tests/programs"},
      .covers = {"loss-spike"},
      .explains = {"training_loop/diverging_loss"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kLossComputed,
      .also_at = {Event::kStep},
      .settings = {kJump},
      .judgement = Reads<&Judge>(),
      .examples = {{"losses that fall", Expect::kClean, [] { return Jumping(1, 0); }},
                   {"one odd batch", Expect::kClean, [] { return Jumping(100, 1); }},
                   {"a jump that lasts", Expect::kWarning, [] { return Jumping(100, 20); }},
                   {"after a step with a large learning rate", Expect::kWarning,
                    [] { return Jumping(100, 20, 1000); }}},
  };
}

}  // namespace dlcheck::training_loop

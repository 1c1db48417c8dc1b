#include <algorithm>
#include <cmath>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/loss/curve_shape.h"

namespace dlcheck::training_loop {
namespace {

constexpr Setting kRise{.name = "rise",
                        .value = 1.3,
                        .low = 1,
                        .high = 1e6,
                        .unit = "1",
                        .meaning = "smallest ratio of the last mean loss to the least one",
                        .source = "measured: no alarm on simulated healthy curves"};
constexpr Setting kScatter{.name = "scatter",
                           .value = 6,
                           .low = 0,
                           .high = 1e6,
                           .unit = "standard deviations",
                           .meaning = "smallest rise, over the scatter of the mean loss",
                           .source = "measured: no alarm on simulated healthy curves"};
constexpr Setting kSteps{.name = "steps",
                         .value = 200,
                         .low = 100,
                         .high = 1e9,
                         .unit = "losses",
                         .meaning = "fewest losses of a run",
                         .source = "own reasoning: the mean needs 50 losses, the rise 50 more"};
// The mean loss must have been high for as many steps, and lie in the upper part of the rise.
constexpr size_t kLasting = 50;
constexpr double kStillHigh = 0.8;

bool IsPositive(const LossCurve& curve) {
  return curve.IsFinite() && std::ranges::all_of(curve.points, [](const LossCurve::Point& point) {
           return point.loss > 0;
         });
}

// A loss of which the target is fixed: it has no reason to end above its start.
bool HasFixedTargets(const LossCurve& curve) {
  return curve.logged || curve.kind == "cross_entropy" || curve.kind == "nll";
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const LossCurve& curve) {
  if (curve.optimizers > 1) return absl::FailedPreconditionError("several optimizers step");
  const size_t count = curve.points.size();
  if (static_cast<double>(count) < settings[kSteps]) {
    return absl::NotFoundError(StrCat("fewer than ", settings[kSteps], " losses were recorded"));
  }
  if (!IsPositive(curve))
    return absl::FailedPreconditionError("not all losses are positive numbers");
  Verdict verdict{.findings = {}, .judged = Counted(static_cast<int64_t>(count), "loss value")};
  const std::vector<double> means = ExponentialMeans(curve);
  const auto least = std::ranges::min_element(means.begin() + kLasting, means.end());
  const auto place = static_cast<size_t>(least - means.begin());
  const double bound = std::max(settings[kRise] * *least,
                                *least + settings[kScatter] * ScatterOfMeans(curve, means, place));
  if (count - place <= kLasting ||
      *std::min_element(means.end() - kLasting, means.end()) <= bound) {
    return verdict;
  }
  const double highest = *std::max_element(least, means.end()), last = means.back();
  if (last < *least + kStillHigh * (highest - *least)) return verdict;  // it comes back
  const bool is_above_start = last > means.front() && HasFixedTargets(curve);
  verdict.findings.push_back(
      {.severity = is_above_start ? Severity::kWarning : Severity::kNote,
       .message = StrCat("The loss was lowest at step ", curve.points[place].step, " (mean ",
                         Short(*least), "), then rose to ", Short(last), " at step ",
                         curve.points.back().step,
                         is_above_start ? ", which is above the first loss." : "."),
       .places = {},
       .first_step = curve.points[place].step,
       .last_step = curve.points.back().step,
       .count = static_cast<int64_t>(count - place),
       .measured = last / *least,
       .bound = settings[kRise]});
  return verdict;
}

// Losses that scatter by a fifth and fall for 300 steps, then change by `growth` in each of 200.
Evidence Turning(double growth) {
  std::vector<double> losses;
  for (int step = 0; step < 500; ++step) {
    const double scatter = 0.8 + 0.1 * (step * 7 % 5);
    const double level = step < 300 ? 2.3 / (1 + 0.01 * step) : 0.6 * std::pow(growth, step - 300);
    losses.push_back(scatter * level);
  }
  Evidence evidence;
  evidence.Add(kPlain, LossesOnly(losses));
  return evidence;
}

}  // namespace

Check DivergingLoss() {
  return {
      .id = "training_loop/diverging_loss",
      .title = "The loss rises and does not come back",
      .promise = "The loss ends near its least value.",
      .why = "Training destroys what it learned. The last weights are worse than earlier ones.",
      .method =
          "Takes the exponential mean of about 50 losses. Compares its last 50 values with the "
          "least one before them, by ratio and by scatter.",
      .fix =
          "Lower the learning rate and clip gradients by norm. Look at what changed at the step "
          "of the least loss: the data, the schedule or the precision.",
      .limits = {.needs = "One optimizer and 200 positive losses.",
                 .silent_when = "The loss falls again before the run ends.",
                 .severity =
                     "A warning if a loss with fixed targets ends above its start, else a note: "
                     "harder data or bootstrapped targets raise a loss, too.",
                 .blind_spots = "A rise that begins in the last 50 steps.",
                 .sensitivity =
                     "It finds all of 60 simulated rises by 1 percent a step within 200 steps, and "
                     "all jumps to twice the loss. None of 360 healthy curves is reported."},
      .python = {.bad = R"(optimizer = torch.optim.SGD(model.parameters(), lr=3.0))",
                 .good = R"(optimizer = torch.optim.SGD(model.parameters(), lr=0.1))"},
      .cpp = {},
      .sources = {"measured: simulated curves with log-normal scatter of 0.02 to 0.4"},
      .covers = {"diverging-loss"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kLossComputed,
      .also_at = {Event::kOptimizerBuilt, Event::kScheduler},
      .settings = {kRise, kScatter, kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"a loss that falls on", Expect::kClean, [] { return Turning(0.999); }},
                   {"a loss that rises a little", Expect::kClean, [] { return Turning(1.0005); }},
                   {"a loss that doubles", Expect::kNote, [] { return Turning(1.004); }},
                   {"a loss that ends above its start", Expect::kWarning,
                    [] { return Turning(1.01); }}},
  };
}

}  // namespace dlcheck::training_loop

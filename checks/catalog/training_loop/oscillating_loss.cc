#include <algorithm>
#include <cmath>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/loss/loss_curve.h"
#include "checks/signals/run/statistics.h"

namespace dlcheck::training_loop {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 64,
                         .low = 16,
                         .high = 1e9,
                         .unit = "losses",
                         .meaning = "fewest losses in the second half of a run",
                         .source = "own reasoning"};
constexpr Setting kTurns{.name = "turns",
                         .value = 0.9,
                         .low = 0.67,
                         .high = 1,
                         .unit = "share",
                         .meaning = "smallest share of steps at which the loss turns",
                         .source = "exact: losses in random order turn at two steps of three"};
constexpr Setting kSwing{.name = "swing",
                         .value = 0.1,
                         .low = 0,
                         .high = 1e6,
                         .unit = "1",
                         .meaning = "smallest change from step to step, over the level",
                         .source = "own reasoning"};

struct Swings {
  double turns = 0;   // share of points that lie above both neighbors, or below both
  double change = 0;  // median change from one point to the next
  double level = 0;   // median
};

Swings SwingsOf(const std::vector<double>& losses) {
  Swings swings;
  std::vector<double> changes;
  for (size_t i = 1; i < losses.size(); ++i) {
    changes.push_back(std::abs(losses[i] - losses[i - 1]));
    if (i + 1 == losses.size()) break;
    swings.turns += (losses[i] - losses[i - 1]) * (losses[i + 1] - losses[i]) < 0 ? 1 : 0;
  }
  swings.turns /= static_cast<double>(losses.size() - 2);
  swings.change = Median(std::move(changes));
  swings.level = std::abs(Median(losses));
  return swings;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const LossCurve& curve) {
  if (curve.optimizers > 1) return absl::FailedPreconditionError("several optimizers step");
  if (!curve.IsFinite()) return absl::FailedPreconditionError("not all losses are finite");
  std::vector<double> late;
  for (size_t i = curve.points.size() / 2; i < curve.points.size(); ++i) {
    late.push_back(curve.points[i].loss);
  }
  if (static_cast<double>(late.size()) < settings[kSteps]) {
    return absl::NotFoundError(
        StrCat("fewer than ", settings[kSteps], " losses were recorded in the second half"));
  }
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(late.size()), "loss value")};
  const Swings swings = SwingsOf(late);
  if (swings.turns < settings[kTurns] || swings.change < settings[kSwing] * swings.level) {
    return verdict;
  }
  verdict.findings.push_back(
      {.severity = Severity::kNote,
       .message = StrCat("The loss alternates between high and low: it turns at ",
                         Short(100 * swings.turns), " % of the steps in the second half, by ",
                         Short(swings.change), " at a level of ", Short(swings.level), "."),
       .places = {},
       .first_step = curve.points[curve.points.size() / 2].step,
       .last_step = curve.points.back().step,
       .count = static_cast<int64_t>(late.size()),
       .measured = swings.turns,
       .bound = settings[kTurns]});
  return verdict;
}

// 200 losses around 1. Every second one is larger by `swing`, all scatter a little.
Evidence Alternating(double swing) {
  std::vector<double> losses;
  for (int step = 0; step < 200; ++step) {
    losses.push_back(1 + swing * (step % 2) + 0.05 * (step * 7 % 5));
  }
  Evidence evidence;
  evidence.Add(kPlain, LossesOnly(losses));
  return evidence;
}

}  // namespace

Check OscillatingLoss() {
  return {
      .id = "training_loop/oscillating_loss",
      .title = "The loss alternates between high and low",
      .promise = "The loss does not alternate from step to step.",
      .why =
          "Each step overshoots the minimum, and the next one comes back. Training gets no nearer "
          "to it.",
      .method =
          "Counts the steps in the second half at which the loss lies above both neighbors, or "
          "below both. Losses in random order do so at two of three steps.",
      .fix = "Lower the learning rate, or the momentum.",
      .limits = {.needs = "One optimizer and 128 losses.",
                 .silent_when = "The losses change by less than a tenth of their level.",
                 .severity = "Always a note: an epoch of two unequal batches looks the same.",
                 .blind_spots = "Oscillations with a period above two steps.",
                 .sensitivity = ""},
      .python = {.bad = R"(optimizer = torch.optim.SGD(model.parameters(), lr=1.9))",
                 .good = R"(optimizer = torch.optim.SGD(model.parameters(), lr=0.2))"},
      .cpp = {.bad = "torch::optim::SGD optimizer(model->parameters(), /*lr=*/1.9);",
              .good = "torch::optim::SGD optimizer(model->parameters(), /*lr=*/0.2);"},
      .sources = {"Bienaymé 1874: turning points of a random series"},
      .covers = {"oscillating-loss"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kLossComputed,
      .also_at = {Event::kOptimizerBuilt, Event::kScheduler},
      .settings = {kSteps, kTurns, kSwing},
      .judgement = Reads<&Judge>(),
      .examples = {{"losses that scatter", Expect::kClean, [] { return Alternating(0); }},
                   {"a small alternation", Expect::kClean, [] { return Alternating(0.05); }},
                   {"a large alternation", Expect::kNote, [] { return Alternating(0.5); }}},
  };
}

}  // namespace dlcheck::training_loop

#include <algorithm>
#include <cmath>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/loss/curve_shape.h"
#include "checks/signals/run/statistics.h"

namespace dlcheck::training_loop {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 1000,
                         .low = 200,
                         .high = 1e9,
                         .unit = "losses",
                         .meaning = "fewest losses of a run",
                         .source = "own reasoning: a short run costs little"};
constexpr Setting kShare{.name = "share",
                         .value = 0.6,
                         .low = 0.1,
                         .high = 0.9,
                         .unit = "1",
                         .meaning = "share of the run, at its end, that is judged",
                         .source = "own reasoning: most of the run"};
constexpr Setting kDrop{.name = "drop",
                        .value = 0.01,
                        .low = 0,
                        .high = 1,
                        .unit = "1",
                        .meaning = "smallest drop of the loss over that part",
                        .source = "own reasoning"};
constexpr Setting kTrend{.name = "trend",
                         .value = -1,
                         .low = -100,
                         .high = 0,
                         .unit = "standard deviations",
                         .meaning = "trend of the block medians that counts as falling",
                         .source = "Mann 1945: a flat series falls as much once in six"};
constexpr Setting kFallen{.name = "fallen",
                          .value = 0.05,
                          .low = 0,
                          .high = 1,
                          .unit = "1",
                          .meaning = "smallest fall of the loss before it",
                          .source = "own reasoning: a loss that never fell is another fault"};
constexpr size_t kBlocks = 40, kEnds = 4;
constexpr double kLearned = 0.02;  // of the first loss: little is left to learn
constexpr double kRise = 0.1;      // over that part: more is no plateau

absl::StatusOr<Verdict> Judge(const Settings& settings, const LossCurve& curve) {
  if (curve.optimizers > 1) return absl::FailedPreconditionError("several optimizers step");
  if (!curve.IsFinite()) return absl::FailedPreconditionError("not all losses are finite");
  const size_t count = curve.points.size();
  if (static_cast<double>(count) < settings[kSteps]) {
    return absl::NotFoundError(StrCat("fewer than ", settings[kSteps], " losses were recorded"));
  }
  Verdict verdict{.findings = {}, .judged = Counted(static_cast<int64_t>(count), "loss value")};
  LossCurve late = curve;
  const auto skipped = static_cast<size_t>(static_cast<double>(count) * (1 - settings[kShare]));
  late.points.erase(late.points.begin(),
                    late.points.begin() + static_cast<std::ptrdiff_t>(skipped));
  const std::vector<double> medians = BlockMedians(late, kBlocks);
  const double begin = Median({medians.begin(), medians.begin() + kEnds});
  const double end = Median({medians.end() - kEnds, medians.end()});
  const double first = BlockMedians(curve, kBlocks).front();
  const bool has_fallen = first - begin >= settings[kFallen] * std::abs(first);
  if (!has_fallen || end <= kLearned * first) return verdict;
  if (begin - end >= settings[kDrop] * std::abs(begin)) return verdict;
  if (end - begin >= kRise * std::abs(begin)) return verdict;  // the finding of another check
  if (MannKendall(medians) <= settings[kTrend]) return verdict;
  verdict.findings.push_back(
      {.severity = Severity::kNote,
       .message = StrCat("The loss fell from ", Short(first), " to ", Short(begin), " by step ",
                         late.points.front().step, ", and is ", Short(end), " after ",
                         late.points.size(), " more steps."),
       .places = {},
       .first_step = late.points.front().step,
       .last_step = late.points.back().step,
       .count = static_cast<int64_t>(late.points.size()),
       .measured = begin == 0 ? 0 : (begin - end) / std::abs(begin),
       .bound = settings[kDrop]});
  return verdict;
}

// 1,200 losses that scatter by a tenth and fall until this step.
Evidence FallingUntil(int last) {
  std::vector<double> losses;
  for (int step = 0; step < 1200; ++step) {
    const double level = 0.4 + 1.6 * std::exp(-std::min(step, last) / 300.0);
    losses.push_back((0.9 + 0.05 * (step * 7 % 5)) * level);
  }
  Evidence evidence;
  evidence.Add(kPlain, LossesOnly(losses));
  return evidence;
}

}  // namespace

Check PlateauedLoss() {
  return {
      .id = "training_loop/plateaued_loss",
      .title = "Most steps no longer lower the loss",
      .promise = "The loss falls during most of the run.",
      .why = "The last steps cost time and teach the model nothing.",
      .method =
          "Divides the last 60 percent of the losses into 40 blocks. The medians must fall by 1 "
          "percent, or show a falling trend (Mann-Kendall).",
      .fix =
          "Stop earlier, or lower the learning rate as the loss stops falling "
          "(ReduceLROnPlateau). If the loss is too high, use a larger model.",
      .limits = {.needs = "One optimizer and 1,000 losses.",
                 .silent_when = "The loss is below 2 percent of where it began, or never fell.",
                 .severity = "Always a note: a run may converge on purpose.",
                 .blind_spots = "Metrics that improve while the loss does not.",
                 .sensitivity = ""},
      .python = {.bad = R"(for epoch in range(1000):
    train_one_epoch(model, loader))",
                 .good = R"(scheduler = ReduceLROnPlateau(optimizer, patience=3)
for epoch in range(100):
    loss = train_one_epoch(model, loader)
    scheduler.step(loss))"},
      .cpp = {},
      .sources = {"Mann 1945"},
      .covers = {"plateaued-loss"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kLossComputed,
      .also_at = {Event::kOptimizerBuilt, Event::kScheduler},
      .settings = {kSteps, kShare, kDrop, kTrend, kFallen},
      .judgement = Reads<&Judge>(),
      .examples = {{"a loss that falls on", Expect::kClean, [] { return FallingUntil(1200); }},
                   {"a loss that stays for two thirds", Expect::kNote,
                    [] { return FallingUntil(400); }}},
  };
}

}  // namespace dlcheck::training_loop

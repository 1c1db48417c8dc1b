#include <algorithm>
#include <cmath>
#include <map>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/loss/curve_shape.h"
#include "checks/signals/run/statistics.h"
#include "checks/signals/schedule/learning_rates.h"

namespace dlcheck::schedule {
namespace {

constexpr Setting kLow{.name = "low",
                       .value = 0.005,
                       .low = 0,
                       .high = 0.5,
                       .unit = "of the highest learning rate",
                       .meaning = "learning rate at or below which the schedule has ended",
                       .source = "own reasoning: schedules in steps go down to a hundredth"};
constexpr Setting kShare{.name = "share",
                         .value = 0.25,
                         .low = 0.01,
                         .high = 1,
                         .unit = "1",
                         .meaning = "largest share of the run after the end of the schedule",
                         .source = "exact: a cosine is as low in its last 5 percent"};
constexpr Setting kFall{.name = "fall",
                        .value = 0.05,
                        .low = 0,
                        .high = 1,
                        .unit = "1",
                        .meaning = "fall of the loss before the end that counts as learning",
                        .source = "own reasoning"};
constexpr Setting kAfter{.name = "after",
                         .value = 0.02,
                         .low = 0,
                         .high = 1,
                         .unit = "1",
                         .meaning = "fall of the loss after the end that counts as learning",
                         .source = "own reasoning"};
constexpr size_t kFewest = 40;  // losses of each part
constexpr size_t kBlocks = 8;

// The first step from which on all rates are low; none: past the last one.
int64_t EndOf(const std::map<int64_t, double>& rates, double low) {
  int64_t end = rates.rbegin()->first + 1;
  for (auto at = rates.rbegin(); at != rates.rend() && at->second <= low; ++at) end = at->first;
  return end;
}

// Of the losses of these steps: how far they fall, as a share.
struct Fall {
  size_t count = 0;
  double share = 0, begin = 0, end = 0;
};

Fall FallOf(const LossCurve& curve, int64_t first, int64_t last) {
  LossCurve part = curve;
  std::erase_if(part.points, [first, last](const LossCurve::Point& point) {
    return point.step < first || point.step >= last;
  });
  Fall fall{.count = part.points.size()};
  if (fall.count < kFewest) return fall;
  const std::vector<double> medians = BlockMedians(part, kBlocks);
  fall.begin = Median({medians.begin(), medians.begin() + 2});
  fall.end = Median({medians.end() - 2, medians.end()});
  fall.share = fall.begin > 0 ? (fall.begin - fall.end) / fall.begin : 0;
  return fall;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const LearningRates& rates,
                              const LossCurve& curve) {
  if (rates.optimizers.size() > 1 || curve.optimizers > 1) {
    return absl::FailedPreconditionError("several optimizers step");
  }
  if (!curve.IsFinite()) return absl::FailedPreconditionError("not all losses are finite");
  const LearningRates::Optimizer& optimizer = rates.optimizers.begin()->second;
  if (optimizer.constant) return absl::FailedPreconditionError("the learning rate is constant");
  const int64_t last = curve.points.back().step + 1;
  const int64_t end = EndOf(optimizer.highest, settings[kLow] * optimizer.peak);
  Verdict verdict{.findings = {}, .judged = Counted(last, "step")};
  const auto after_steps = static_cast<double>(last - end);
  if (after_steps <= settings[kShare] * static_cast<double>(last)) return verdict;
  const Fall before = FallOf(curve, end / 2, end), after = FallOf(curve, end, last);
  if (before.count < kFewest || after.count < kFewest) {
    return absl::NotFoundError("too few losses were recorded before or after the schedule's end");
  }
  if (before.share < settings[kFall] || after.share >= settings[kAfter]) return verdict;
  verdict.findings.push_back(
      {.severity = Severity::kNote,
       .message = StrCat("The loss was still falling, from ", Short(before.begin), " to ",
                         Short(before.end), ", as the learning rate fell below ",
                         Short(100 * settings[kLow]), " % of its highest at step ", end, ". The ",
                         last - end, " steps after it brought it to ", Short(after.end), "."),
       .places = {{.thing = optimizer.name, .file = ""}},
       .first_step = end,
       .last_step = last - 1,
       .count = last - end,
       .measured = after_steps / static_cast<double>(last),
       .bound = settings[kShare]});
  return verdict;
}

// 400 steps; the rate falls to nothing over `length` of them, and the loss with it.
Evidence Decaying(int length) {
  RunBuilder run;
  run.Attribute("loss", "cross_entropy", "kind", "cross_entropy");
  for (int step = 0; step < 400; ++step) {
    const double rate = std::max(1e-6, 0.1 * (1 - static_cast<double>(step) / length));
    run.Quantity(Quantity::kLearningRate, "group", "optimizer#0/group#0", rate);
    run.Quantity(Quantity::kLoss, "loss", "cross_entropy",
                 2 * std::exp(-std::min(step, length) / 150.0), 32);
    run.Event(Event::kStep, 0, "optimizer", "optimizer#0");
  }
  return PlainOnly(run);
}

}  // namespace

Check DecaysTooEarly() {
  return {
      .id = "schedule/decays_too_early",
      .title = "The learning rate ends while the loss falls",
      .promise = "The schedule ends as the run does, or as the loss stops falling.",
      .why = "The steps after the end of the schedule cost time and change nothing.",
      .method =
          "Finds the step from which on the learning rate stays below half a percent of its "
          "highest. Compares how far the loss falls before and after it.",
      .fix =
          "Give the scheduler the number of steps that it is called for: epochs times batches "
          "for a scheduler that is stepped after each batch.",
      .limits = {.needs = "One optimizer, and 40 losses on either side.",
                 .silent_when = "The schedule ends in the last quarter of the run.",
                 .severity = "Always a note: a final phase at a low rate may be meant.",
                 .blind_spots = "A schedule that begins again.",
                 .sensitivity = ""},
      .python = {.bad = R"(scheduler = CosineAnnealingLR(optimizer, T_max=epochs)
for x, y in loader:
    train_step(x, y)
    scheduler.step())",
                 .good = R"(scheduler = CosineAnnealingLR(optimizer, T_max=epochs * len(loader))
for x, y in loader:
    train_step(x, y)
    scheduler.step())"},
      .cpp = {.bad = R"(torch::optim::StepLR scheduler(optimizer, /*step_size=*/30);
for (auto& batch : *loader) {
  TrainStep(model, optimizer, batch);
  scheduler.step();
})",
              .good = R"(torch::optim::StepLR scheduler(optimizer, /*step_size=*/30 * batches);
for (auto& batch : *loader) {
  TrainStep(model, optimizer, batch);
  scheduler.step();
})"},
      .sources = {"own reasoning"},
      .covers = {"wrong-schedule-length"},
      .explains = {"training_loop/plateaued_loss"},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kLow, kShare, kFall, kAfter},
      .judgement = Reads<&Judge>(),
      .examples = {{"a schedule as long as the run", Expect::kClean, [] { return Decaying(400); }},
                   {"a schedule of three quarters", Expect::kClean, [] { return Decaying(320); }},
                   {"a schedule of half the run", Expect::kNote, [] { return Decaying(200); }}},
  };
}

}  // namespace dlcheck::schedule

#include <algorithm>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/loss/loss_curve.h"

namespace dlcheck::training_loop {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 100,
                         .low = 10,
                         .high = 1e9,
                         .unit = "losses",
                         .meaning = "fewest losses of a run",
                         .source = "own reasoning: a few losses of zero are no pattern"};
constexpr Setting kShare{.name = "share",
                         .value = 0.25,
                         .low = 0.01,
                         .high = 1,
                         .unit = "share",
                         .meaning = "share of losses that are exactly zero",
                         .source = "own reasoning: a quarter of the training is lost"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const LossCurve& curve) {
  const auto total = static_cast<double>(curve.points.size());
  if (total < settings[kSteps]) {
    return absl::NotFoundError(StrCat("fewer than ", settings[kSteps], " losses were recorded"));
  }
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(curve.points.size()), "loss value")};
  const auto is_zero = [](const LossCurve::Point& point) { return point.loss == 0; };
  const auto first = std::find_if(curve.points.begin(), curve.points.end(), is_zero);
  const auto zeros = std::count_if(curve.points.begin(), curve.points.end(), is_zero);
  const double share = static_cast<double>(zeros) / total;
  if (share < settings[kShare] || share == 1) return verdict;  // a loss of zeros alone is flat
  verdict.findings.push_back(
      {.severity = Severity::kNote,
       .message = StrCat("The loss is exactly 0 in ", zeros, " of ", curve.points.size(),
                         " steps: they teach the model nothing."),
       .places = {},
       .first_step = first->step,
       .last_step = curve.points.back().step,
       .count = static_cast<int64_t>(zeros),
       .measured = share,
       .bound = settings[kShare]});
  return verdict;
}

// 400 losses that fall, every n-th of which is zero.
Evidence ZeroEvery(int steps) {
  std::vector<double> losses;
  for (int step = 0; step < 400; ++step) {
    losses.push_back(step % steps == 1 ? 0 : 1.0 / (1 + step));
  }
  Evidence evidence;
  evidence.Add(kPlain, LossesOnly(losses));
  return evidence;
}

}  // namespace

Check ZeroLoss() {
  return {
      .id = "training_loop/zero_loss",
      .title = "The loss is exactly zero in many steps",
      .promise = "Most steps have a loss from which the model can learn.",
      .why =
          "A loss of zero has no gradient. The steps cost time and change nothing, or only by "
          "momentum and weight decay.",
      .method = "Counts the recorded losses that are exactly zero.",
      .fix =
          "Check that the loss compares what it is meant to compare: a positive may be the anchor "
          "itself. Choose harder negatives or a larger margin. End the training where nothing is "
          "left to learn.",
      .limits = {.needs = "100 recorded losses.",
                 .silent_when = "All losses are zero.",
                 .severity = "Always a note: a task may be solved.",
                 .blind_spots = "Losses that are nearly zero.",
                 .sensitivity = ""},
      .python = {.bad = R"(negative = distance.masked_fill(same, -inf).amax(1)  # the easiest
loss = F.relu(positive - negative + 0.3).mean())",
                 .good = R"(negative = distance.masked_fill(same, inf).amin(1)  # the hardest
loss = F.relu(positive - negative + 0.3).mean())"},
      .cpp = {.bad =
                  R"(auto negative = distance.masked_fill(same, -INFINITY).amax(1);  // the easiest
auto loss = torch::relu(positive - negative + 0.3).mean();)",
              .good =
                  R"(auto negative = distance.masked_fill(same, INFINITY).amin(1);  // the hardest
auto loss = torch::relu(positive - negative + 0.3).mean();)"},
      .sources = {"Schroff et al. 2015: FaceNet, on the choice of triplets"},
      .covers = {"loss-of-zero"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {kSteps, kShare},
      .judgement = Reads<&Judge>(),
      .examples = {{"one in ten", Expect::kClean, [] { return ZeroEvery(10); }},
                   {"one in three", Expect::kNote, [] { return ZeroEvery(3); }}},
  };
}

}  // namespace dlcheck::training_loop

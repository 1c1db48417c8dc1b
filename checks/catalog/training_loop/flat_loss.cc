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
                         .value = 600,
                         .low = 200,
                         .high = 1e9,
                         .unit = "losses",
                         .meaning = "fewest losses of a run",
                         .source = "own reasoning: large models need hundreds of steps to begin"};
constexpr Setting kDrop{.name = "drop",
                        .value = 0.02,
                        .low = 0,
                        .high = 1,
                        .unit = "share",
                        .meaning = "smallest drop of the loss over the run",
                        .source = "measured: a drop of 5 percent is told from scatter of 0.2"};
constexpr Setting kTrend{.name = "trend",
                         .value = -1,
                         .low = -100,
                         .high = 0,
                         .unit = "standard deviations",
                         .meaning = "trend of the block medians that counts as falling",
                         .source = "Mann 1945: a flat series falls as much once in six"};
constexpr size_t kBlocks = 40;

// A loss may fall within its first steps.
constexpr std::ptrdiff_t kFirst = 5;
constexpr double kBeyondScatter = 2;  // standard errors of the median of kFirst losses

// How far the loss fell, as a share of where it began: the first block, or the first losses if
// those lie above it by more than their scatter.
double DropOf(const LossCurve& curve, const std::vector<double>& medians) {
  std::vector<double> deviations, first;
  for (const LossCurve::Point& point : curve.points) {
    if (first.size() < kFirst) first.push_back(point.loss);
    deviations.push_back(std::abs(point.loss - medians.back()));
  }
  const double scatter = 1.4826 * Median(std::move(deviations));
  const double error = 1.25 * scatter / std::sqrt(static_cast<double>(kFirst));
  const double early = Median(first);
  const bool is_above = early > medians.front() + kBeyondScatter * error;
  const double begin = is_above ? early : medians.front();
  const double end = Median({medians.end() - 4, medians.end()});
  return begin == 0 ? 0 : (begin - end) / std::abs(begin);
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const LossCurve& curve) {
  if (curve.optimizers > 1) return absl::FailedPreconditionError("several optimizers step");
  if (!curve.IsFinite()) return absl::FailedPreconditionError("not all losses are finite");
  if (curve.loaded) return absl::FailedPreconditionError("the training began from loaded weights");
  if (static_cast<double>(curve.points.size()) < settings[kSteps]) {
    return absl::NotFoundError(StrCat("fewer than ", settings[kSteps], " losses were recorded"));
  }
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(curve.points.size()), "loss value")};
  const std::vector<double> medians = BlockMedians(curve, kBlocks);
  const double drop = DropOf(curve, medians);
  if (drop >= settings[kDrop] || MannKendall(medians) <= settings[kTrend]) return verdict;
  if (medians.front() == 0 && medians.back() == 0) return verdict;  // nothing is left to learn
  const bool is_sure = curve.logged || curve.doubt.empty();
  verdict.findings.push_back(
      {.severity = is_sure ? Severity::kWarning : Severity::kNote,
       .message = StrCat("The loss began at ", Short(curve.points.front().loss), " and is ",
                         Short(Median({medians.end() - 4, medians.end()})), " after ",
                         curve.points.size(), " steps."),
       .places = {},
       .first_step = curve.points.front().step,
       .last_step = curve.points.back().step,
       .count = static_cast<int64_t>(curve.points.size()),
       .measured = drop,
       .bound = settings[kDrop]});
  return verdict;
}

// 800 losses that scatter by a fifth and fall by this share.
Evidence Falling(double share) {
  std::vector<double> losses;
  for (int step = 0; step < 800; ++step) {
    losses.push_back((0.8 + 0.1 * (step * 7 % 5)) * (1 - share * step / 800));
  }
  Evidence evidence;
  evidence.Add(kPlain, LossesOnly(losses));
  return evidence;
}

}  // namespace

Check FlatLoss() {
  return {
      .id = "training_loop/flat_loss",
      .title = "The loss stays where it began",
      .promise = "The loss falls within the first 600 steps.",
      .why = "The run costs time and learns nothing.",
      .method =
          "Divides the losses into 40 blocks. The medians must fall by 2 percent, or show a "
          "falling trend (Mann-Kendall).",
      .fix =
          "Train on one batch until its loss is near zero. If that fails, look for a missing "
          "gradient, a learning rate near zero, or targets that do not belong to the inputs.",
      .limits = {.needs = "One optimizer, 600 losses, and weights that were not loaded.",
                 .silent_when = "",
                 .severity =
                     "A warning for a mean cross-entropy or squared error without further terms, "
                     "and for a log of another tool. Else a note: such a loss may begin at its "
                     "minimum.",
                 .blind_spots = "A loss that falls late and little.",
                 .sensitivity = "It finds 47 of 60 simulated flat curves of 2,000 losses with a "
                                "scatter of 0.02, and 34 with 0.4. It never reports a fall by 5 "
                                "percent with a scatter of 0.1, and 11 of 60 with 0.4."},
      .python = {.bad = R"(optimizer = torch.optim.SGD(model.parameters(), lr=1e-8))",
                 .good = R"(optimizer = torch.optim.SGD(model.parameters(), lr=0.1))"},
      .cpp = {},
      .sources = {"Mann 1945", "measured: simulated curves with log-normal scatter"},
      .covers = {"flat-loss"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kLossComputed,
      .also_at = {Event::kOptimizerBuilt, Event::kScheduler},
      .settings = {kSteps, kDrop, kTrend},
      .judgement = Reads<&Judge>(),
      .examples = {{"a loss that halves", Expect::kClean, [] { return Falling(0.5); }},
                   {"a loss that falls slowly", Expect::kClean, [] { return Falling(0.06); }},
                   {"a flat loss", Expect::kWarning, [] { return Falling(0); }}},
  };
}

}  // namespace dlcheck::training_loop

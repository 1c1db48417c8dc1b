#include <algorithm>
#include <cmath>
#include <vector>

#include "checks/catalog/examples/cost_runs.h"
#include "checks/catalog/findings/cost_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/statistics.h"

namespace dlcheck::performance {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 100,
                         .low = 50,
                         .high = 1e9,
                         .unit = "sampled steps",
                         .meaning = "fewest steps after the first 20",
                         .source = "own reasoning: 2 percent of fewer are chance"};
constexpr Setting kShare{.name = "share",
                         .value = 0.02,
                         .low = 0,
                         .high = 1,
                         .unit = "1",
                         .meaning = "largest share of steps that stall",
                         .source = "measured: log-normal times with a scatter of 0.3 stay below"};
constexpr Setting kLost{.name = "lost",
                        .value = 0.1,
                        .low = 0,
                        .high = 1,
                        .unit = "1",
                        .meaning = "smallest share of the time that stalls cost",
                        .source = "own reasoning: less is not worth a change"};
constexpr Setting kMore{.name = "more",
                        .value = 0.01,
                        .low = 0,
                        .high = 1e6,
                        .unit = "s",
                        .meaning = "smallest stall, over the median",
                        .source = "measured: pauses of a busy machine are shorter"};
constexpr size_t kSkipped = 20;
constexpr double kFewest = 5;                     // stalls
constexpr double kSlower = 1.5, kDeviations = 8;  // times the median; times its deviation

// A step stalls if it lasts longer than this.
double BoundOf(const std::vector<double>& times, double more) {
  const double median = Median(times);
  std::vector<double> deviations;
  for (const double time : times) deviations.push_back(std::abs(time - median));
  return std::max({median + more, kSlower * median,
                   median + kDeviations * 1.4826 * Median(std::move(deviations))});
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const StepCosts& costs) {
  const size_t count = costs.undisturbed.size();
  if (static_cast<double>(count) < kSkipped + settings[kSteps]) {
    return absl::NotFoundError(StrCat("step times were recorded in fewer than ", settings[kSteps],
                                      " sampled steps without an evaluation after the first ",
                                      kSkipped));
  }
  const std::vector<double> times = ValuesOf(costs.undisturbed, kSkipped, count);
  const double median = Median(times), bound = BoundOf(times, settings[kMore]);
  double stalls = 0, lost = 0, total = 0;
  for (const double time : times) {
    total += time;
    if (time <= bound) continue;
    ++stalls;
    lost += time - median;
  }
  const auto judged = static_cast<int64_t>(times.size());
  const double share = stalls / static_cast<double>(judged);
  Verdict verdict{.findings = {}, .judged = Counted(judged, "sampled step")};
  if (stalls < kFewest || share <= settings[kShare] || lost <= settings[kLost] * total)
    return verdict;
  verdict.findings.push_back(CostFinding(
      costs.undisturbed, kSkipped, Severity::kNote,
      StrCat(Counted(static_cast<int64_t>(stalls), "step"), " of ", judged, " took longer than ",
             Short(1e3 * bound), " ms, with a median of ", Short(1e3 * median), " ms. They cost ",
             Short(100 * lost / total), " % of the time."),
      share, settings[kShare]));
  return verdict;
}

// 300 steps of about 10 ms; every `period`-th takes five times as long.
Evidence Stalling(int period) {
  return WithCosts({.steps = 300, .time = [period](int step) {
                      const double scatter = 1e-4 * (step * 7 % 11);
                      return period > 0 && step % period == 0 ? 0.05 : 0.01 + scatter;
                    }});
}

}  // namespace

Check StepStalls() {
  return {
      .id = "performance/step_stalls",
      .title = "Some steps take much longer than the others",
      .promise = "Steps take about equally long.",
      .why = "The run waits in a few steps, and takes longer than its median step suggests.",
      .method =
          "Counts steps above 1.5 times the median, and above it by eight deviations and by 10 ms. "
          "Skips steps with an evaluation or a saved file, and the first 20.",
      .fix =
          "Look at what happens at these steps: a new epoch that starts workers again "
          "(persistent_workers=True), logging, garbage collection, or a slow file system.",
      .limits = {.needs = "120 sampled steps without an evaluation.",
                 .silent_when = "Stalls cost less than a tenth of the time.",
                 .severity = "Always a note: other programs on the machine do the same.",
                 .blind_spots = "Stalls that fall into steps with an evaluation.",
                 .sensitivity = ""},
      .python = {.bad = R"(loader = DataLoader(data, num_workers=4)
for epoch in range(100):
    for x, y in loader:
        train_step(x, y))",
                 .good = R"(loader = DataLoader(data, num_workers=4, persistent_workers=True)
for epoch in range(100):
    for x, y in loader:
        train_step(x, y))"},
      .cpp = {},
      .sources = {"measured: simulated log-normal step times"},
      .covers = {"stalled-steps"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kSteps, kShare, kLost, kMore},
      .judgement = Reads<&Judge>(),
      .examples = {{"even steps", Expect::kClean, [] { return Stalling(0); }},
                   {"one stall in a hundred", Expect::kClean, [] { return Stalling(100); }},
                   {"a stall in every tenth step", Expect::kNote, [] { return Stalling(10); }}},
  };
}

}  // namespace dlcheck::performance

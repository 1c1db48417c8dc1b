#include <algorithm>

#include "checks/catalog/cost_finding.h"
#include "checks/catalog/cost_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/statistics.h"

namespace dlcheck::performance {
namespace {

constexpr Setting kFactor{.name = "factor",
                          .value = 3,
                          .low = 1,
                          .high = 1e6,
                          .unit = "1",
                          .meaning = "how many times as long the last quarter's steps may take",
                          .source = "own reasoning: other programs on the machine cost a factor 2"};

constexpr Setting kMore{.name = "more",
                        .value = 5e-3,
                        .low = 0,
                        .high = 1e6,
                        .unit = "s",
                        .meaning = "how much longer they may take at least",
                        .source = "own reasoning: pauses of the system"};

constexpr Setting kSteps{.name = "steps",
                         .value = 64,
                         .low = 8,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest steps after the first 16",
                         .source = "own reasoning"};

constexpr Setting kTrend{.name = "trend",
                         .value = 3.29,
                         .low = 0,
                         .high = 100,
                         .unit = "standard deviations",
                         .meaning = "how sure the trend has to be (Mann-Kendall)",
                         .source = "own reasoning: a machine that becomes busy once gives 2.4"};

constexpr size_t kLeftOut = 2 * kWarmUp;

absl::StatusOr<Verdict> Judge(const Settings& settings, const StepCosts& costs) {
  const size_t count = costs.time.size();
  if (static_cast<double>(count) < kLeftOut + settings[kSteps]) {
    return absl::NotFoundError(StrCat("the time of fewer than ", settings[kSteps],
                                      " sampled steps after the first ", kLeftOut,
                                      " was recorded"));
  }
  const size_t quarter = (count - kLeftOut) / 4;
  const double first = Median(ValuesOf(costs.time, kLeftOut, kLeftOut + quarter));
  const double last = Median(ValuesOf(costs.time, count - quarter, count));
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(count - kLeftOut), "sampled step")};
  if (last <= settings[kFactor] * first || last - first <= settings[kMore]) return verdict;
  if (MannKendall(LeastOfParts(costs.time, kLeftOut)) <= settings[kTrend]) return verdict;
  verdict.findings.push_back(CostFinding(
      costs.time, kLeftOut, Severity::kNote,
      StrCat("Steps became slower: ", Short(1e3 * first), " ms at first, ", Short(1e3 * last),
             " ms at last (medians of the first and last of four quarters of ",
             Counted(static_cast<int64_t>(count - kLeftOut), "sampled step"), ")."),
      last, settings[kFactor] * first));
  return verdict;
}

// Steps take 10 ms at first, then longer from one to the next, `factor` times as long in the last
// quarter.
Evidence Slowing(double factor) {
  return WithCosts({.time = [factor](int step) {
    const double part = std::clamp((step - 26) / 59.0, 0.0, 1.0);
    return 0.01 * (1 + (factor - 1) * part);
  }});
}

// Another program begins after half of the run.
Evidence Disturbed() {
  return WithCosts({.time = [](int step) { return (step < 56 ? 0.01 : 0.1) + 1e-4 * (step % 7); }});
}

}  // namespace

Check StepTimeGrowth() {
  return {
      .id = "performance/step_time_growth",
      .promise = "Late steps take as long as early ones.",
      .why =
          "Something grows with the number of steps, and the run will take longer than it seems.",
      .method =
          "Median step time of the last quarter of the sampled steps, against that of the first "
          "after sixteen steps; and the least of each of twelve parts, which has to rise surely.",
      .fix =
          "Look for work that is added in the loop: hooks, parameter groups, a graph that goes on "
          "from step to step (detach the state), lists that are searched.",
      .limits =
          "Longer samples, a larger model or a busier machine look the same: a note. Time of "
          "evaluations between steps is left out by the median.",
      .sources = {"Mann 1945", "own reasoning"},
      .covers = {"F05"},
      .explains = {"performance/step_time"},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kFactor, kMore, kSteps, kTrend},
      .judgement = Reads<&Judge>(),
      .examples = {{"twice as long", Expect::kClean, [] { return Slowing(2); }},
                   {"four times as long", Expect::kFaulty, [] { return Slowing(4); }},
                   {"a busy machine", Expect::kClean, &Disturbed}},
  };
}

}  // namespace dlcheck::performance

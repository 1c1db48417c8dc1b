#include <algorithm>

#include "checks/catalog/examples/cost_runs.h"
#include "checks/catalog/findings/cost_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/statistics.h"

namespace dlcheck::performance {
namespace {

constexpr Setting kFactor{
    .name = "factor",
    .value = 3,
    .low = 1,
    .high = 1e6,
    .unit = "1",
    .meaning = "largest ratio of the last quarter's median to the first quarter's",
    .source = "own reasoning: other programs on the machine cost a factor of 2"};

constexpr Setting kMore{.name = "more",
                        .value = 5e-3,
                        .low = 0,
                        .high = 1e6,
                        .unit = "s",
                        .meaning = "smallest slowdown reported",
                        .source = "own reasoning: operating system pauses are shorter"};

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
                         .meaning = "smallest significance of the trend (Mann-Kendall)",
                         .source = "own reasoning: a machine that becomes busy once gives 2.4"};

constexpr size_t kSkipped = 2 * kWarmUp;

absl::StatusOr<Verdict> Judge(const Settings& settings, const StepCosts& costs) {
  const size_t count = costs.time.size();
  if (static_cast<double>(count) < kSkipped + settings[kSteps]) {
    return absl::NotFoundError(StrCat("step times were recorded in fewer than ", settings[kSteps],
                                      " sampled steps after the first ", kSkipped));
  }
  const size_t quarter = (count - kSkipped) / 4;
  const double first = Median(ValuesOf(costs.time, kSkipped, kSkipped + quarter));
  const double last = Median(ValuesOf(costs.time, count - quarter, count));
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(count - kSkipped), "sampled step")};
  if (last <= settings[kFactor] * first || last - first <= settings[kMore]) return verdict;
  if (MannKendall(LeastOfParts(costs.time, kSkipped)) <= settings[kTrend]) return verdict;
  verdict.findings.push_back(
      CostFinding(costs.time, kSkipped, Severity::kNote,
                  StrCat("Steps became slower: from ", Short(1e3 * first), " ms to ",
                         Short(1e3 * last), " ms (medians of the first and last quarter of ",
                         Counted(static_cast<int64_t>(count - kSkipped), "sampled step"), ")."),
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

// Another program starts after half of the run.
Evidence Disturbed() {
  return WithCosts({.time = [](int step) { return (step < 56 ? 0.01 : 0.1) + 1e-4 * (step % 7); }});
}

}  // namespace

Check StepTimeGrowth() {
  return {
      .id = "performance/step_time_growth",
      .title = "Steps become slower during the run",
      .promise = "Late steps take as long as early steps.",
      .why = "Some work grows with the number of steps, and the run will take longer than planned.",
      .method =
          "Compares the median step time of the last quarter of sampled steps with the first "
          "quarter, after sixteen warm-up steps. The minimum of each of twelve parts must also "
          "rise significantly.",
      .fix =
          "Look for work that is added in the loop: hooks, parameter groups or searched lists. "
          "Call detach() on a state that is carried from step to step.",
      .limits =
          {.needs = "At least 64 sampled steps after the first 16.",
           .silent_when = "",
           .severity =
               "Always a note: longer samples, a larger model or a busier machine look the same.",
           .blind_spots = "The median ignores the time of evaluations between steps.",
           .sensitivity = ""},
      .python = {.bad = R"(for x, y in loader:
    model.fc.register_forward_hook(log_activations)
    train_step(model, optimizer, x, y))",
                 .good = R"(model.fc.register_forward_hook(log_activations)
for x, y in loader:
    train_step(model, optimizer, x, y))"},
      .cpp = {.bad = R"(for (auto& batch : *loader) {
  seen = torch::cat({seen, batch.target});  // copies all of it in each step
  TrainStep(model, optimizer, batch);
})",
              .good = R"(std::vector<torch::Tensor> seen;
for (auto& batch : *loader) {
  seen.push_back(batch.target);
  TrainStep(model, optimizer, batch);
})"},
      .sources = {"Mann 1945", "own reasoning"},
      .covers = {"growing-step-work"},
      .explains = {"performance/step_time"},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kFactor, kMore, kSteps, kTrend},
      .judgement = Reads<&Judge>(),
      .examples = {{"twice as long", Expect::kClean, [] { return Slowing(2); }},
                   {"four times as long", Expect::kNote, [] { return Slowing(4); }},
                   {"a busy machine", Expect::kClean, &Disturbed}},
  };
}

}  // namespace dlcheck::performance

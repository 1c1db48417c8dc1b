#include "checks/catalog/cost_finding.h"
#include "checks/catalog/cost_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/statistics.h"

namespace dlcheck::performance {
namespace {

constexpr Setting kLimit{.name = "limit",
                         .value = 0,
                         .low = 0,
                         .high = 1e9,
                         .unit = "s",
                         .meaning = "time that a step may take; 0: no limit",
                         .source = "the user"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const StepCosts& costs) {
  const size_t count = costs.time.size();
  if (count <= kWarmUp) {
    return absl::NotFoundError(
        StrCat("the time of no sampled step after the first ", kWarmUp, " was recorded"));
  }
  const double limit = settings[kLimit];
  if (limit == 0) return absl::FailedPreconditionError("no limit was given");
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(count - kWarmUp), "sampled step")};
  const double median = Median(ValuesOf(costs.time, kWarmUp, count));
  if (median <= limit) return verdict;
  verdict.findings.push_back(CostFinding(
      costs.time, kWarmUp, Severity::kError,
      StrCat("Half of ", Counted(static_cast<int64_t>(count - kWarmUp), "sampled step"), " took ",
             Short(1e3 * median), " ms or more, where the limit is ", Short(1e3 * limit), " ms."),
      median, limit));
  return verdict;
}

}  // namespace

Check StepTime() {
  return {
      .id = "performance/step_time",
      .promise = "A step takes no more time than it was given.",
      .why = "The run will not be ready when it has to be.",
      .method =
          "Median time from the end of one optimizer step to the end of the next over the sampled "
          "steps after the first eight, against the limit.",
      .fix =
          "Profile a step with torch.profiler; look at performance/dataloader_bottleneck and performance/debugging "
          "first.",
      .limits =
          "Without a limit nothing is judged. Sampled steps do a little more for dlcheck than "
          "others. Evaluations between steps count to the step after them, which a median leaves "
          "out.",
      .sources = {"own reasoning: medians are not moved by evaluations and saves"},
      .covers = {"F09"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kLimit},
      .judgement = Reads<&Judge>(),
      .examples = {{"at the limit",
                    Expect::kClean,
                    [] { return WithCosts({.steps = 16}); },
                    {{"limit", 0.02}}},
                   {"a little over it",
                    Expect::kFaulty,
                    [] { return WithCosts({.steps = 16}); },
                    {{"limit", 0.0199}}}},
  };
}

}  // namespace dlcheck::performance

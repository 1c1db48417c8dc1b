#include "checks/catalog/examples/cost_runs.h"
#include "checks/catalog/findings/cost_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/statistics.h"

namespace dlcheck::performance {
namespace {

constexpr Setting kLimit{.name = "limit",
                         .value = 0,
                         .low = 0,
                         .high = 1e9,
                         .unit = "s",
                         .meaning = "largest median step time; 0: no limit",
                         .source = "the user"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const StepCosts& costs) {
  const size_t count = costs.time.size();
  if (count <= kWarmUp) {
    return absl::NotFoundError(
        StrCat("no step time was recorded after the first ", kWarmUp, " sampled steps"));
  }
  const double limit = settings[kLimit];
  if (limit == 0) return absl::FailedPreconditionError("no limit was given");
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(count - kWarmUp), "sampled step")};
  const double median = Median(ValuesOf(costs.time, kWarmUp, count));
  if (median <= limit) return verdict;
  verdict.findings.push_back(CostFinding(
      costs.time, kWarmUp, Severity::kError,
      StrCat("The median of ", Counted(static_cast<int64_t>(count - kWarmUp), "sampled step"),
             " took ", Short(1e3 * median), " ms (limit: ", Short(1e3 * limit), " ms)."),
      median, limit));
  return verdict;
}

}  // namespace

Check StepTime() {
  return {
      .id = "performance/step_time",
      .title = "Steps are slower than the limit",
      .promise = "The median step takes no longer than its limit.",
      .why = "The run will not finish in the planned time.",
      .method =
          "Compares the median step time with the limit. A step lasts from the end of one "
          "optimizer step to the end of the next. The first eight sampled steps are ignored.",
      .fix =
          "Profile a step with torch.profiler. First check performance/dataloader_bottleneck and "
          "performance/debugging.",
      .limits =
          {.needs = "A step-time limit in the settings.",
           .silent_when = "",
           .severity = "",
           .blind_spots =
               "Sampled steps do slightly more work for dlcheck than other steps. Evaluations "
               "between steps count toward the next step; the median ignores them.",
           .sensitivity = ""},
      .python = {.bad = R"(model = Net().cuda()
for x, y in loader:
    train_step(model, optimizer, x.cuda(), y.cuda()))",
                 .good = R"(model = torch.compile(Net().cuda())
for x, y in loader:
    train_step(model, optimizer, x.cuda(), y.cuda()))"},
      .cpp = {},
      .sources = {"own reasoning: evaluations and saves do not change the median"},
      .covers = {"oversized-inputs"},
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
                   {"slightly over the limit",
                    Expect::kError,
                    [] { return WithCosts({.steps = 16}); },
                    {{"limit", 0.0199}}}},
  };
}

}  // namespace dlcheck::performance

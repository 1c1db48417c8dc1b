#include <algorithm>

#include "checks/catalog/cost_finding.h"
#include "checks/catalog/cost_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::performance {
namespace {

constexpr Setting kLimit{
    .name = "limit",
    .value = 0,
    .low = 0,
    .high = 1e15,
    .unit = "bytes",
    .meaning = "resident memory that the program may take at most; 0: no limit",
    .source = "the user"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const StepCosts& costs) {
  if (costs.peak.empty()) return absl::NotFoundError("the memory of no step was recorded");
  const double limit = settings[kLimit];
  if (limit == 0) return absl::FailedPreconditionError("no limit was given");
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(costs.peak.size()), "sampled step")};
  const auto over =
      std::ranges::find_if(costs.peak, [&](const auto& cost) { return cost.value > limit; });
  if (over == costs.peak.end()) return verdict;
  const double peak = std::ranges::max(costs.peak, {}, &StepCosts::Cost::value).value;
  verdict.findings.push_back(CostFinding(
      costs.peak, static_cast<size_t>(over - costs.peak.begin()), Severity::kError,
      StrCat("The program took ", Mebibytes(peak), " at its peak and was over its limit of ",
             Mebibytes(limit), " from step ", over->step, " on."),
      peak, limit));
  return verdict;
}

}  // namespace

Check Memory() {
  return {
      .id = "performance/memory",
      .promise = "The program takes no more memory than it was given.",
      .why = "Where it has to run, it will be ended by the system, or take the memory of others.",
      .method = "Peak resident memory of the process at each sampled step, against the limit.",
      .fix =
          "Smaller batches with accumulation, checkpoints of activations, or fewer workers and "
          "prefetched batches of the loader.",
      .limits =
          "Without a limit nothing is judged. Memory of an accelerator and of worker processes is "
          "not counted.",
      .sources = {"POSIX: getrusage, ru_maxrss"},
      .covers = {"F15"},
      .explains = {},
      .worst = Severity::kError,
      .live = true,
      .stands_at = Event::kStep,
      .settings = {kLimit},
      .judgement = Reads<&Judge>(),
      .examples = {{"at the limit",
                    Expect::kClean,
                    [] { return WithCosts({.steps = 4}); },
                    {{"limit", 4e8}}},
                   {"a byte over it",
                    Expect::kFaulty,
                    [] { return WithCosts({.steps = 4}); },
                    {{"limit", 4e8 - 1}}}},
  };
}

}  // namespace dlcheck::performance

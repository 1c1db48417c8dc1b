#include <algorithm>

#include "checks/catalog/examples/cost_runs.h"
#include "checks/catalog/findings/cost_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::performance {
namespace {

constexpr Setting kLimit{.name = "limit",
                         .value = 0,
                         .low = 0,
                         .high = 1e15,
                         .unit = "bytes",
                         .meaning = "largest resident memory of the process; 0: no limit",
                         .source = "the user"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const StepCosts& costs) {
  if (costs.peak.empty()) return absl::NotFoundError("no memory was recorded at any step");
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
      StrCat("The process used ", Mebibytes(peak), " at its peak and exceeded its limit of ",
             Mebibytes(limit), " from step ", over->step, " on."),
      peak, limit));
  return verdict;
}

}  // namespace

Check Memory() {
  return {
      .id = "performance/memory",
      .title = "The process exceeds its memory limit",
      .promise = "The process uses no more memory than its limit.",
      .why = "On the target machine it will be OOM-killed or starve other jobs of memory.",
      .method =
          "Compares the peak resident memory of the process at each sampled step with the limit.",
      .fix =
          "Use smaller batches with gradient accumulation, activation checkpointing, or fewer "
          "DataLoader workers and prefetched batches.",
      .limits = {.needs = "A memory limit in the settings.",
                 .silent_when = "",
                 .severity = "",
                 .blind_spots = "Memory of an accelerator and of worker processes is not counted.",
                 .sensitivity = ""},
      .python = {.bad = R"(loader = DataLoader(dataset, batch_size=256, num_workers=16)
for x, y in loader:
    criterion(model(x), y).backward()
    optimizer.step()
    optimizer.zero_grad())",
                 .good = R"(loader = DataLoader(dataset, batch_size=64, num_workers=4)
for i, (x, y) in enumerate(loader):
    (criterion(model(x), y) / 4).backward()
    if i % 4 == 3:
        optimizer.step()
        optimizer.zero_grad())"},
      .cpp = {},
      .sources = {"POSIX: getrusage, ru_maxrss"},
      .covers = {"memory-near-limit"},
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
                   {"one byte over the limit",
                    Expect::kError,
                    [] { return WithCosts({.steps = 4}); },
                    {{"limit", 4e8 - 1}}}},
  };
}

}  // namespace dlcheck::performance

#include <algorithm>

#include "checks/catalog/cost_finding.h"
#include "checks/catalog/cost_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/statistics.h"

namespace dlcheck::performance {
namespace {

constexpr double kMebibyte = 1 << 20;

constexpr Setting kGrowth{.name = "growth",
                          .value = 64 * kMebibyte,
                          .low = 0,
                          .high = 1e15,
                          .unit = "bytes",
                          .meaning = "growth after the first quarter that is worth a word",
                          .source = "own reasoning: allocators keep some tens of MiB"};

constexpr Setting kTrend{.name = "trend",
                         .value = 3.29,
                         .low = 0,
                         .high = 100,
                         .unit = "standard deviations",
                         .meaning = "how sure the trend has to be (Mann-Kendall)",
                         .source =
                             "measured: 0 of 50 flat, noisy and one-jump traces, 50 of 50 "
                             "with a leak of 0.001 % a step"};

constexpr Setting kSteps{.name = "steps",
                         .value = 24,
                         .low = 16,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest steps of the run",
                         .source = "own reasoning"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const StepCosts& costs) {
  const StepCosts::Costs& resident = costs.resident;
  const int64_t quarter = resident.empty() ? 0 : resident.back().step / 4;
  const auto first = std::ranges::lower_bound(resident, quarter, {}, &StepCosts::Cost::step);
  const auto begin = static_cast<size_t>(first - resident.begin());
  if (static_cast<double>(resident.size()) < settings[kSteps] || resident.size() - begin < kParts ||
      resident.back().step <= resident[begin].step) {
    return absl::NotFoundError(
        StrCat("resident memory was recorded of fewer than ", settings[kSteps], " sampled steps"));
  }
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(resident.size()), "sampled step")};
  const std::vector<double> floors = LeastOfParts(resident, begin);
  const double growth = floors.back() - floors.front();
  const double later = floors.back() - floors[kParts / 2];
  // What fills up once grows less and less.
  if (growth < settings[kGrowth] || later < growth / 4 || MannKendall(floors) <= settings[kTrend]) {
    return verdict;
  }
  const auto steps = static_cast<double>(resident.back().step - resident[begin].step);
  // Data that are read for the first time stay in memory; after some epochs all have been.
  const bool read_before = costs.passes >= 4;
  verdict.findings.push_back(
      CostFinding(resident, begin, read_before ? Severity::kWarning : Severity::kNote,
                  StrCat("Resident memory grew by ", Mebibytes(growth), " from step ",
                         resident[begin].step, " to step ", resident.back().step, ", ",
                         Mebibytes(1000 * growth / steps), " in 1,000 steps, and did not stop."),
                  growth, settings[kGrowth]));
  return verdict;
}

// Bytes at a step of 96, growing by 96 MiB in all until `last`.
Evidence GrowingUntil(int last, int passes) {
  return WithCosts({.passes = passes, .resident = [last](int step) {
                      return 4e8 + kMebibyte * std::min(step, last);
                    }});
}

}  // namespace

Check MemoryGrowth() {
  return {
      .id = "performance/memory_growth",
      .promise = "Memory does not grow from step to step.",
      .why = "The longer the run, the more it takes, until the system ends it.",
      .method =
          "Resident memory after the first quarter of the run, in twelve parts: the least of each "
          "rises by 64 MiB or more, surely, and still in the second half.",
      .fix =
          "Look for tensors with their graph in a sum or list: total += loss.item() instead of "
          "total += loss; for caches without a bound, and for hooks that are added in the loop.",
      .limits =
          "Data that are read for the first time and buffers that fill up grow too: a note unless "
          "loaders went through all their data four times. Memory of an accelerator is not "
          "counted.",
      .sources = {"Mann 1945", "measured on synthetic traces", "pytorch issue 6017"},
      .covers = {"F04"},
      .explains = {"performance/memory"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kGrowth, kTrend, kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"a cache that is full after half of the run", Expect::kClean,
                    [] { return GrowingUntil(48, 8); }},
                   {"to the end", Expect::kFaulty, [] { return GrowingUntil(96, 8); }},
                   {"to the end of the first epoch", Expect::kFaulty,
                    [] { return GrowingUntil(96, 1); }}},
  };
}

}  // namespace dlcheck::performance

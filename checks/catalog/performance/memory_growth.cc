#include <algorithm>

#include "checks/catalog/examples/cost_runs.h"
#include "checks/catalog/findings/cost_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/statistics.h"

namespace dlcheck::performance {
namespace {

constexpr double kMebibyte = 1 << 20;

constexpr Setting kGrowth{.name = "growth",
                          .value = 64 * kMebibyte,
                          .low = 0,
                          .high = 1e15,
                          .unit = "bytes",
                          .meaning = "smallest growth after the first quarter that is reported",
                          .source = "own reasoning: allocators keep some tens of MiB"};

constexpr Setting kTrend{.name = "trend",
                         .value = 3.29,
                         .low = 0,
                         .high = 100,
                         .unit = "standard deviations",
                         .meaning = "smallest significance of the trend (Mann-Kendall)",
                         .source =
                             "measured: 0 of 50 flat, noisy and one-jump traces, 50 of 50 with a "
                             "leak of 0.001 % per step"};

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
        StrCat("resident memory was recorded in fewer than ", settings[kSteps], " sampled steps"));
  }
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(resident.size()), "sampled step")};
  const std::vector<double> floors = LeastOfParts(resident, begin);
  const double growth = floors.back() - floors.front();
  const double later = floors.back() - floors[kParts / 2];
  // A buffer that fills up once grows more and more slowly.
  if (growth < settings[kGrowth] || later < growth / 4 || MannKendall(floors) <= settings[kTrend]) {
    return verdict;
  }
  const auto steps = static_cast<double>(resident.back().step - resident[begin].step);
  // Data read for the first time stays in memory; after some epochs all data has been read.
  const bool read_before = costs.passes >= 4;
  verdict.findings.push_back(
      CostFinding(resident, begin, read_before ? Severity::kWarning : Severity::kNote,
                  StrCat("Resident memory grew by ", Mebibytes(growth), " from step ",
                         resident[begin].step, " to step ", resident.back().step, ", ",
                         Mebibytes(1000 * growth / steps), " per 1,000 steps, without stopping."),
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
      .title = "Memory grows from step to step",
      .promise = "Memory does not grow from step to step.",
      .why = "The longer the run, the more memory it uses, until it is OOM-killed.",
      .method =
          "Splits the run after its first quarter into twelve parts and takes the minimum resident "
          "memory of each. The minimum grows by at least 64 MiB, with statistical significance, "
          "and still grows in the second half.",
      .fix =
          "Look for tensors with their autograd graph in a sum or list: use total += loss.item() "
          "instead of total += loss. Look for unbounded caches and for hooks added in the loop.",
      .limits = {.needs = "At least 24 sampled steps with recorded memory.",
                 .silent_when = "",
                 .severity =
                     "Warning if loaders went through all their data four times. Otherwise note, "
                     "because first reads of data and filling buffers also use memory.",
                 .blind_spots = "Memory of an accelerator is not counted.",
                 .sensitivity = ""},
      .python = {.bad = R"(losses = []
for x, y in loader:
    loss = train_step(model, optimizer, x, y)
    losses.append(loss))",
                 .good = R"(losses = []
for x, y in loader:
    loss = train_step(model, optimizer, x, y)
    losses.append(loss.item()))"},
      .cpp = {.bad = R"(std::vector<torch::Tensor> losses;
for (auto& batch : *loader) losses.push_back(TrainStep(model, optimizer, batch));)",
              .good = R"(std::vector<double> losses;
for (auto& batch : *loader) {
  losses.push_back(TrainStep(model, optimizer, batch).item<double>());
})"},
      .sources = {"Mann 1945", "measured on synthetic traces", "pytorch issue 6017"},
      .covers = {"graph-kept-alive"},
      .explains = {"performance/memory"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kGrowth, kTrend, kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"a cache that fills up in the first half of the run", Expect::kClean,
                    [] { return GrowingUntil(48, 8); }},
                   {"growth to the end", Expect::kWarning, [] { return GrowingUntil(96, 8); }},
                   {"growth to the end of the first epoch", Expect::kNote,
                    [] { return GrowingUntil(96, 1); }}},
  };
}

}  // namespace dlcheck::performance

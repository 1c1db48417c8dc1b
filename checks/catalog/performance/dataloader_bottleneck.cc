#include <algorithm>

#include "checks/catalog/cost_finding.h"
#include "checks/catalog/cost_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/statistics.h"

namespace dlcheck::performance {
namespace {

constexpr Setting kShare{.name = "share",
                         .value = 0.5,
                         .low = 0,
                         .high = 1,
                         .unit = "1",
                         .meaning = "share of a step's time that may pass in waiting",
                         .source = "own reasoning: more than half cannot be saved anywhere else"};

constexpr Setting kWait{
    .name = "wait",
    .value = 3e-3,
    .low = 0,
    .high = 1e6,
    .unit = "s",
    .meaning = "shortest wait that is worth a word",
    .source = "own reasoning: to put small samples together takes a millisecond"};

constexpr Setting kSteps{.name = "steps",
                         .value = 24,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest steps after the first eight",
                         .source = "own reasoning"};

// Steps with both numbers, in order.
struct Waits {
  StepCosts::Costs wait, share;
};

Waits WaitsOf(const StepCosts& costs) {
  Waits waits;
  for (const StepCosts::Cost& wait : costs.wait) {
    const auto time = std::ranges::find(costs.time, wait.step, &StepCosts::Cost::step);
    if (time == costs.time.end() || time->value <= 0) continue;
    waits.wait.push_back(wait);
    waits.share.push_back({wait.step, wait.value / time->value});
  }
  return waits;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const StepCosts& costs) {
  const Waits waits = WaitsOf(costs);
  const size_t count = waits.wait.size();
  if (static_cast<double>(count) < kWarmUp + settings[kSteps]) {
    return absl::NotFoundError(StrCat("waiting was recorded of fewer than ", settings[kSteps],
                                      " sampled steps after the first ", kWarmUp));
  }
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(count - kWarmUp), "sampled step")};
  const double share = Median(ValuesOf(waits.share, kWarmUp, count));
  const double wait = Median(ValuesOf(waits.wait, kWarmUp, count));
  if (share <= settings[kShare] || wait <= settings[kWait]) return verdict;
  verdict.findings.push_back(
      CostFinding(waits.share, kWarmUp, Severity::kNote,
                  StrCat("Steps waited ", Short(1e3 * wait), " ms for their batches, ",
                         Short(100 * share), " % of their time (medians of ",
                         Counted(static_cast<int64_t>(count - kWarmUp), "sampled step"), ")."),
                  share, settings[kShare]));
  return verdict;
}

}  // namespace

Check DataloaderBottleneck() {
  return {
      .id = "performance/dataloader_bottleneck",
      .promise = "Steps do not wait for data most of their time.",
      .why = "The machine that trains is idle while the data are made ready.",
      .method =
          "Time that a step waits for batches of loaders, as a share of its whole time; medians "
          "over the sampled steps after the first eight.",
      .fix =
          "Give the loader more workers (num_workers, persistent_workers), make samples cheaper, "
          "or keep what is decoded once.",
      .limits =
          "Small models may be faster than any loader: a note. Only waits of more than three "
          "milliseconds count. Where an accelerator works on while the program waits, the share "
          "is an upper bound.",
      .sources = {"own reasoning"},
      .covers = {"F01"},
      .explains = {"performance/step_time"},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kFetched,
      .settings = {kShare, kWait, kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"half of the time", Expect::kClean,
                    [] { return WithCosts({.wait = [](int) { return 0.01; }}); }},
                   {"more than half", Expect::kFaulty,
                    [] { return WithCosts({.wait = [](int) { return 0.0101; }}); }},
                   {"more than half of very little", Expect::kClean,
                    [] {
                      return WithCosts(
                          {.time = [](int) { return 0.001; }, .wait = [](int) { return 0.0009; }});
                    }}},
  };
}

}  // namespace dlcheck::performance

#include <algorithm>

#include "checks/catalog/examples/cost_runs.h"
#include "checks/catalog/findings/cost_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/statistics.h"

namespace dlcheck::performance {
namespace {

constexpr Setting kShare{.name = "share",
                         .value = 0.5,
                         .low = 0,
                         .high = 1,
                         .unit = "1",
                         .meaning = "largest share of the step time spent waiting",
                         .source = "own reasoning: above half, no other change can save as much"};

constexpr Setting kWait{.name = "wait",
                        .value = 3e-3,
                        .low = 0,
                        .high = 1e6,
                        .unit = "s",
                        .meaning = "shortest wait reported",
                        .source = "own reasoning: collating small samples takes a millisecond"};

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
    return absl::NotFoundError(StrCat("waiting was recorded in fewer than ", settings[kSteps],
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
                         Short(100 * share), " % of the step time (medians of ",
                         Counted(static_cast<int64_t>(count - kWarmUp), "sampled step"), ")."),
                  share, settings[kShare]));
  return verdict;
}

}  // namespace

Check DataloaderBottleneck() {
  return {
      .id = "performance/dataloader_bottleneck",
      .title = "Steps mostly wait for the DataLoader",
      .promise = "Steps spend most of their time computing instead of waiting for data.",
      .why = "The training device is idle while the data is prepared.",
      .method =
          "Measures the time a step waits for DataLoader batches as a share of the whole step "
          "time. Takes medians over the sampled steps after the first eight.",
      .fix =
          "Give the DataLoader more workers (num_workers, persistent_workers=True), make samples "
          "cheaper, or cache decoded samples.",
      .limits = {.needs = "A DataLoader and at least 24 sampled steps after the first eight.",
                 .silent_when = "Waits of at most three milliseconds.",
                 .severity = "Always a note: small models may be faster than any loader.",
                 .blind_spots = "If an accelerator keeps working while the program waits, the "
                                "share is an upper bound.",
                 .sensitivity = ""},
      .python = {.bad = R"(loader = DataLoader(dataset, batch_size=256)
for x, y in loader:
    train_step(model, optimizer, x.cuda(), y.cuda()))",
                 .good = R"(loader = DataLoader(dataset, batch_size=256, num_workers=8,
                    persistent_workers=True, pin_memory=True)
for x, y in loader:
    train_step(model, optimizer, x.cuda(), y.cuda()))"},
      .cpp = {.bad = R"(auto loader = torch::data::make_data_loader(
    dataset, torch::data::DataLoaderOptions().batch_size(256));)",
              .good = R"(auto loader = torch::data::make_data_loader(
    dataset, torch::data::DataLoaderOptions().batch_size(256).workers(8));)"},
      .sources = {"own reasoning"},
      .covers = {"slow-data-loading"},
      .explains = {"performance/step_time"},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kFetched,
      .settings = {kShare, kWait, kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"half of the step time", Expect::kClean,
                    [] { return WithCosts({.wait = [](int) { return 0.01; }}); }},
                   {"more than half of the step time", Expect::kNote,
                    [] { return WithCosts({.wait = [](int) { return 0.0101; }}); }},
                   {"more than half of a very short step", Expect::kClean,
                    [] {
                      return WithCosts(
                          {.time = [](int) { return 0.001; }, .wait = [](int) { return 0.0009; }});
                    }}},
  };
}

}  // namespace dlcheck::performance

#include "checks/catalog/scheduler_finding.h"
#include "checks/catalog/scheduler_runs.h"
#include "checks/engine/reads.h"
#include "checks/signals/learning_rates.h"
#include "checks/signals/ownership.h"

namespace dlcheck::schedule {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 50,
                         .low = 1,
                         .high = 1e6,
                         .unit = "step calls",
                         .meaning = "fewest step calls of the optimizer that a finding rests on",
                         .source = "own reasoning: fewer may be a run that is only tried out"};

bool OptimizerWasMoved(const Schedulers& schedulers, ThingId optimizer) {
  for (const Schedulers::Scheduler& scheduler : schedulers.schedulers) {
    const bool is_its = scheduler.optimizer == optimizer || scheduler.optimizer == 0;
    if (is_its && !scheduler.moves.empty()) return true;
  }
  return schedulers.unassigned_moves > 0;
}

// False too if its rates are not known.
bool RateIsConstant(const LearningRates& rates, const std::string& optimizer) {
  const auto found = rates.optimizers.find(OptimizerOrdinal(optimizer));
  return found != rates.optimizers.end() && found->second.constant;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Schedulers& schedulers,
                              const LearningRates& rates) {
  Verdict verdict{.findings = {}, .judged = JudgedSchedulers(schedulers)};
  if (!schedulers.finished) return verdict;
  for (const Schedulers::Scheduler& scheduler : schedulers.schedulers) {
    const auto own = schedulers.sampled.find(scheduler.optimizer);
    if (!scheduler.built_seen || own == schedulers.sampled.end()) continue;
    const int64_t calls =
        schedulers.has_one_optimizer() ? scheduler.calls_since_built : own->second;
    if (static_cast<double>(calls) < settings[kSteps]) continue;
    if (OptimizerWasMoved(schedulers, scheduler.optimizer)) continue;
    if (!RateIsConstant(rates, scheduler.optimizer_name)) continue;
    verdict.findings.push_back(FindingAbout(
        schedulers, scheduler, Severity::kWarning,
        StrCat(scheduler.name, " was built and never moved in ",
               schedulers.has_one_optimizer() ? "" : "at least ", Counted(calls, "step call"),
               " of its optimizer; the rate stayed as it was."),
        static_cast<double>(calls), settings[kSteps]));
  }
  return verdict;
}

}  // namespace

Check NeverStepped() {
  return {
      .id = "schedule/never_stepped",
      .promise = "A scheduler that is built is also stepped.",
      .why = "The rate stays constant, and the run is not the one that was planned.",
      .method =
          "The moves of every scheduler that was built, counted over the whole run, against the "
          "step calls of its optimizer. The run has to end by itself, and no other scheduler may "
          "have moved the same optimizer.",
      .fix = "Call scheduler.step() after each epoch or after each optimizer.step().",
      .limits =
          "A run that ends before the first epoch does, and so before its first move, looks the "
          "same if it is long enough. Silent where the rate changed in any other way.",
      .sources = {"PyTorch documentation: how to adjust learning rate", "own reasoning"},
      .covers = {"S05"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"moved once, at the end", Expect::kClean,
                    [] { return Scheduled({.every = 64}); }},
                   {"never moved", Expect::kFaulty, [] { return Scheduled({.every = 0}); }},
                   {"too short to say", Expect::kClean,
                    [] { return Scheduled({.steps = 40, .every = 0}); }}},
  };
}

}  // namespace dlcheck::schedule

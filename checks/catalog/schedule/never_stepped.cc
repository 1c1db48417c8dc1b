#include "checks/catalog/examples/scheduler_runs.h"
#include "checks/catalog/findings/scheduler_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/optimizer/ownership.h"
#include "checks/signals/schedule/learning_rates.h"

namespace dlcheck::schedule {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 50,
                         .low = 1,
                         .high = 1e6,
                         .unit = "step calls",
                         .meaning = "fewest step calls of the optimizer for a finding",
                         .source = "own reasoning: a shorter run may be a trial"};

bool OptimizerWasMoved(const Schedulers& schedulers, ThingId optimizer) {
  for (const Schedulers::Scheduler& scheduler : schedulers.schedulers) {
    const bool is_its = scheduler.optimizer == optimizer || scheduler.optimizer == 0;
    if (is_its && !scheduler.moves.empty()) return true;
  }
  return schedulers.unassigned_moves > 0;
}

// Also false if the learning rates are unknown.
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
        schedulers, scheduler, scheduler.step_depends ? Severity::kNote : Severity::kWarning,
        StrCat(scheduler.name, " was built but never stepped in ",
               schedulers.has_one_optimizer() ? "" : "at least ", Counted(calls, "step call"),
               " of its optimizer, and the learning rate stayed constant.",
               scheduler.step_depends ? " Its step() call depends on a condition." : ""),
        static_cast<double>(calls), settings[kSteps]));
  }
  return verdict;
}

}  // namespace

Check NeverStepped() {
  return {
      .id = "schedule/never_stepped",
      .title = "scheduler.step() is never called",
      .promise = "Every scheduler that is built is also stepped.",
      .why = "The learning rate stays constant, and the run does not follow the planned schedule.",
      .method =
          "Compares the scheduler steps of every scheduler over the whole run with the step calls "
          "of its optimizer. The run must end normally, and no other scheduler may have stepped "
          "for the same optimizer.",
      .fix = "Call scheduler.step() after each epoch or after each optimizer.step().",
      .limits = {.needs = "A recorded scheduler construction and at least 50 optimizer steps in a "
                          "run that ends normally.",
                 .silent_when = "The learning rate changed in any other way.",
                 .severity =
                     "A warning, and a note where the program calls step() in the branch of "
                     "an if.",
                 .blind_spots =
                     "A long run that ends before the end of its first epoch looks the same.",
                 .sensitivity = ""},
      .python = {.bad = R"(scheduler = StepLR(optimizer, step_size=30)
for epoch in range(90):
    train_one_epoch(model, optimizer, loader))",
                 .good = R"(scheduler = StepLR(optimizer, step_size=30)
for epoch in range(90):
    train_one_epoch(model, optimizer, loader)
    scheduler.step())"},
      .cpp = {.bad = R"(torch::optim::StepLR scheduler(optimizer, /*step_size=*/30);
for (int epoch = 0; epoch < 90; ++epoch) {
  TrainOneEpoch(model, *loader, optimizer);
})",
              .good = R"(torch::optim::StepLR scheduler(optimizer, /*step_size=*/30);
for (int epoch = 0; epoch < 90; ++epoch) {
  TrainOneEpoch(model, *loader, optimizer);
  scheduler.step();
})"},
      .sources = {"PyTorch documentation: how to adjust learning rate", "own reasoning"},
      .covers = {"zero-learning-rate"},
      .explains = {"learnability/no_better_than_constant"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kScheduler,
      .also_at = {Event::kStep},
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"stepped once, at the end", Expect::kClean,
                    [] { return Scheduled({.every = 64}); }},
                   {"never stepped", Expect::kWarning, [] { return Scheduled({.every = 0}); }},
                   {"stepped under a condition", Expect::kNote,
                    [] { return Scheduled({.every = 0, .depends = true}); }},
                   {"a run too short to judge", Expect::kClean,
                    [] { return Scheduled({.steps = 40, .every = 0}); }}},
  };
}

}  // namespace dlcheck::schedule

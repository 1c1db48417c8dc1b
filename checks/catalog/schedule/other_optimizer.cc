#include "checks/catalog/scheduler_finding.h"
#include "checks/catalog/scheduler_runs.h"
#include "checks/engine/reads.h"
#include "checks/signals/learning_rates.h"
#include "checks/signals/optimizers.h"
#include "checks/signals/ownership.h"

namespace dlcheck::schedule {
namespace {

constexpr Setting kMoves{.name = "moves",
                         .value = 8,
                         .low = 2,
                         .high = 1e6,
                         .unit = "moves",
                         .meaning = "fewest moves, at different steps, that a finding rests on",
                         .source = "own reasoning: an optimizer for a later stage may wait"};

int64_t StepsOfMoves(const Schedulers::Scheduler& scheduler) {
  int64_t count = 0, last = -1;
  for (const Occurrence& move : scheduler.moves) {
    if (move.step != last) ++count;
    last = move.step;
  }
  return count;
}

// The optimizer that steps at one rate all the while; empty if there is none, or another whose rate
// moves.
std::string OptimizerAtOneRate(const LearningRates& rates, const Optimizers& optimizers,
                               double enough) {
  std::string found;
  for (const auto& [ordinal, optimizer] : rates.optimizers) {
    if (!optimizer.constant) return "";
    if (!optimizers.IsPlain(ordinal)) return "";
    if (static_cast<double>(optimizer.highest.size()) >= enough) found = optimizer.name;
  }
  return found;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Schedulers& schedulers,
                              const LearningRates& rates, const Optimizers& optimizers) {
  Verdict verdict{.findings = {}, .judged = JudgedSchedulers(schedulers)};
  for (const Schedulers::Scheduler& scheduler : schedulers.schedulers) {
    const int64_t moves = StepsOfMoves(scheduler);
    if (scheduler.optimizer == 0 || static_cast<double>(moves) < settings[kMoves]) continue;
    const std::string& idle = scheduler.optimizer_name;
    const bool stepped = schedulers.sampled.contains(scheduler.optimizer) ||
                         rates.optimizers.contains(OptimizerOrdinal(idle));
    if (stepped) continue;
    const std::string other = OptimizerAtOneRate(rates, optimizers, settings[kMoves]);
    if (other.empty()) continue;
    verdict.findings.push_back(
        FindingAbout(schedulers, scheduler, Severity::kError,
                     StrCat(scheduler.name, " moved at ", Counted(moves, "sampled step"), ", but ",
                            idle, " never stepped; ", other, " did, at one constant rate."),
                     static_cast<double>(moves), 0));
  }
  return verdict;
}

}  // namespace

Check OtherOptimizer() {
  return {
      .id = "schedule/other_optimizer",
      .promise = "A scheduler moves the rate of an optimizer that steps.",
      .why = "The optimizer that trains keeps one constant rate, while the schedule runs idle.",
      .method =
          "The optimizer that each scheduler was built with, against those that made steps: it "
          "made none in the whole run, and all that did used one constant rate.",
      .fix =
          "Build the scheduler with the optimizer that is stepped, after the last assignment to "
          "that variable.",
      .limits =
          "Silent if an optimizer that steps is of a class that is not part of torch.optim: it "
          "may wrap the one that the scheduler moves.",
      .sources = {"PyTorch documentation: how to adjust learning rate", "own reasoning"},
      .covers = {"S06"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kSchedule,
      .settings = {kMoves},
      .judgement = Reads<&Judge>(),
      .examples = {{"its own optimizer steps", Expect::kClean, [] { return Scheduled({}); }},
                   {"another optimizer steps", Expect::kFaulty,
                    [] { return Scheduled({.moves_optimizer = 1}); }},
                   {"it moves too seldom to say", Expect::kClean,
                    [] { return Scheduled({.every = 16, .moves_optimizer = 1}); }}},
  };
}

}  // namespace dlcheck::schedule

#include "checks/catalog/examples/scheduler_runs.h"
#include "checks/catalog/findings/scheduler_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/optimizer/optimizers.h"
#include "checks/signals/optimizer/ownership.h"
#include "checks/signals/schedule/learning_rates.h"

namespace dlcheck::schedule {
namespace {

constexpr Setting kMoves{
    .name = "moves",
    .value = 8,
    .low = 2,
    .high = 1e6,
    .unit = "scheduler steps",
    .meaning = "fewest scheduler steps, at different optimizer steps, for a finding",
    .source = "own reasoning: an optimizer for a later stage may not step yet"};

int64_t StepsOfMoves(const Schedulers::Scheduler& scheduler) {
  int64_t count = 0, last = -1;
  for (const Occurrence& move : scheduler.moves) {
    if (move.step != last) ++count;
    last = move.step;
  }
  return count;
}

// The optimizer that steps at one constant learning rate; empty if there is none, or if the
// learning rate of another optimizer changes.
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
                     StrCat(scheduler.name, " stepped at ", Counted(moves, "sampled step"),
                            ", but its optimizer ", idle, " never stepped. ", other,
                            " stepped at one constant learning rate."),
                     static_cast<double>(moves), 0));
  }
  return verdict;
}

}  // namespace

Check OtherOptimizer() {
  return {
      .id = "schedule/other_optimizer",
      .title = "The scheduler holds another optimizer",
      .promise = "A scheduler changes the learning rate of an optimizer that steps.",
      .why =
          "The optimizer that trains keeps one constant learning rate, and the schedule has no "
          "effect.",
      .method =
          "Compares the optimizer that each scheduler was built with and the optimizers that "
          "stepped. The scheduler's optimizer never stepped in the whole run, and all that stepped "
          "used one constant learning rate.",
      .fix =
          "Build the scheduler with the optimizer that steps, after the last assignment to that "
          "variable.",
      .limits = {.needs = "Eight scheduler steps at different optimizer steps.",
                 .silent_when = "An optimizer that steps is of a class outside torch.optim, which "
                                "may wrap the scheduler's optimizer.",
                 .severity = "",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = CosineAnnealingLR(optimizer, T_max=epochs)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
train(model, optimizer, scheduler))",
                 .good = R"(optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scheduler = CosineAnnealingLR(optimizer, T_max=epochs)
train(model, optimizer, scheduler))"},
      .cpp = {.bad = R"(torch::optim::SGD first(model->parameters(), /*lr=*/0.1);
torch::optim::StepLR scheduler(first, /*step_size=*/30);
torch::optim::AdamW optimizer(model->parameters());
TrainOneEpoch(model, *loader, optimizer, scheduler);)",
              .good = R"(torch::optim::AdamW optimizer(model->parameters());
torch::optim::StepLR scheduler(optimizer, /*step_size=*/30);
TrainOneEpoch(model, *loader, optimizer, scheduler);)"},
      .sources = {"PyTorch documentation: how to adjust learning rate", "own reasoning"},
      .covers = {"scheduler-of-another-optimizer"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kScheduler,
      .settings = {kMoves},
      .judgement = Reads<&Judge>(),
      .examples = {{"its own optimizer steps", Expect::kClean, [] { return Scheduled({}); }},
                   {"another optimizer steps", Expect::kError,
                    [] { return Scheduled({.moves_optimizer = 1}); }},
                   {"too few scheduler steps to judge", Expect::kClean,
                    [] { return Scheduled({.every = 16, .moves_optimizer = 1}); }}},
  };
}

}  // namespace dlcheck::schedule

#include <optional>
#include <string>
#include <utility>

#include "checks/catalog/examples/scheduler_runs.h"
#include "checks/catalog/findings/schedule_length.h"
#include "checks/catalog/findings/scheduler_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/whole.h"
#include "checks/signals/schedule/schedulers.h"

namespace dlcheck::schedule {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 50,
                         .low = 1,
                         .high = 1e6,
                         .unit = "step calls",
                         .meaning = "fewest step calls of a judged run",
                         .source = "own reasoning: a shorter run may be a trial"};
constexpr Setting kAgreement{
    .name = "agreement",
    .value = 0.01,
    .low = 0,
    .high = 0.2,
    .unit = "1",
    .meaning = "largest relative difference of two equal counts, plus one",
    .source = "own reasoning: both follow from the loader's length and the number of epochs"};

// One without an end that never came to its first change.
std::optional<Finding> NeverChanges(const Schedulers& schedulers,
                                    const Schedulers::Scheduler& scheduler) {
  const auto moves = static_cast<double>(scheduler.most);
  if (moves < 2 || moves >= scheduler.first_change) return std::nullopt;
  const std::string bound = scheduler.fewest == scheduler.most ? "" : "at most ";
  return FindingAbout(
      schedulers, scheduler, Severity::kNote,
      StrCat(scheduler.name, " changes the learning rate after ",
             WithCommas(Whole(scheduler.first_change)), " steps, but stepped ", bound,
             WithCommas(scheduler.most), " times: the learning rate never changed."),
      moves, scheduler.first_change);
}

// `alone`: the counts of the run are those of this scheduler. Otherwise only its own tell.
std::optional<Finding> WrongLength(const Settings& settings, const Schedulers& schedulers,
                                   const Schedulers::Scheduler& scheduler, bool alone) {
  const LengthCounts counts{.horizon = scheduler.horizon,
                            .moves = static_cast<double>(scheduler.most),
                            .calls = static_cast<double>(scheduler.calls_since_built),
                            .backward_calls = static_cast<double>(schedulers.backward_calls),
                            .batches_in_pass = schedulers.batches_in_pass,
                            .agreement = settings[kAgreement]};
  Severity severity = Severity::kNote;
  std::string wrong = alone && !scheduler.restarts
                          ? WrongWithLength(counts, scheduler.rises_again, severity)
                          : (counts.EndedEarly() ? kEndedEarly : "");
  if (wrong.empty() && alone && scheduler.milestones) {
    severity = Severity::kWarning;
    wrong = WrongWithMilestones(counts);
  }
  if (wrong.empty()) return std::nullopt;
  // Which of several schedulers moved in steps that were not sampled is not known.
  const std::string moves = alone
                                ? StrCat("stepped ", WithCommas(scheduler.most), " times in ",
                                         Counted(scheduler.calls_since_built, "step call"))
                                : StrCat("stepped at most ", WithCommas(scheduler.most), " times");
  return FindingAbout(schedulers, scheduler, severity,
                      StrCat(scheduler.name, " has a length of ", WithCommas(Whole(counts.horizon)),
                             " steps, but ", moves, wrong, "."),
                      counts.moves, counts.horizon);
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Schedulers& schedulers) {
  Verdict verdict{.findings = {}, .judged = JudgedSchedulers(schedulers)};
  if (!schedulers.finished || schedulers.state_loaded) return verdict;
  const bool alone = schedulers.has_one_optimizer() && schedulers.schedulers.size() == 1;
  for (const Schedulers::Scheduler& scheduler : schedulers.schedulers) {
    if (static_cast<double>(scheduler.calls_since_built) < settings[kSteps]) continue;
    std::optional<Finding> found;
    if (scheduler.horizon > 1) found = WrongLength(settings, schedulers, scheduler, alone);
    if (scheduler.first_change > 0) found = NeverChanges(schedulers, scheduler);
    if (found.has_value()) verdict.findings.push_back(*std::move(found));
  }
  return verdict;
}

}  // namespace

Check WrongTotalSteps() {
  return {
      .id = "schedule/wrong_total_steps",
      .title = "The schedule's length does not match the run",
      .promise = "A scheduler is stepped as often as its length says.",
      .why =
          "A schedule that is stepped too rarely never reaches its low learning rates. One that is "
          "stepped too often ends, or rises again, after a fraction of the training.",
      .method =
          "Compares a schedule's length with its scheduler steps, the step calls, the backward "
          "calls and the passes over the data. The run must end normally. Two counts that agree to "
          "0.01 show the intended unit. Milestones that all come in the first pass are counted in "
          "passes.",
      .fix =
          "Give the scheduler the number of scheduler.step() calls: the steps of all epochs, "
          "divided by the micro-batches per step. If it is stepped per epoch, give it the number "
          "of epochs.",
      .limits =
          {.needs = "A run that starts from scratch, ends normally and has 50 step calls.",
           .silent_when =
               "Repeated cosine cycles, unless their length is the number of passes over the data.",
           .severity = "Warning. Note if the run ends before half of its schedule and no other "
                       "count agrees, or before the first change of StepLR. Note for cycles if the "
                       "number of passes is not known.",
           .blind_spots = "With several optimizers or schedulers, or warm restarts, only a run "
                          "that ends before half "
                          "of a schedule is reported.",
           .sensitivity = ""},
      .python = {.bad = R"(scheduler = CosineAnnealingLR(optimizer, T_max=epochs)
for epoch in range(epochs):
    for x, y in loader:
        train_step(model, optimizer, x, y)
        scheduler.step()  # T_max counts epochs)",
                 .good = R"(scheduler = CosineAnnealingLR(optimizer, T_max=epochs * len(loader))
for epoch in range(epochs):
    for x, y in loader:
        train_step(model, optimizer, x, y)
        scheduler.step())"},
      .cpp = {.bad = R"(const double share = 1.0 * step / epochs;
group.options().set_lr(0.1 * (1 + std::cos(M_PI * share)) / 2);
TrainStep(model, optimizer, batch);)",
              .good = R"(const double share = 1.0 * step / (epochs * batches);
group.options().set_lr(0.1 * (1 + std::cos(M_PI * share)) / 2);
TrainStep(model, optimizer, batch);)"},
      .sources = {"lightning issue 1476 and accelerate issues 963 and 999: per epoch or per step",
                  "own reasoning for which counts have to agree"},
      .covers = {"wrong-scheduler-interval", "wrong-schedule-length", "wrong-training-length"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kScheduler,
      .settings = {kSteps, kAgreement},
      .judgement = Reads<&Judge>(),
      .examples = {{"one scheduler step per update", Expect::kClean,
                    [] { return Scheduled({.horizon = 64}); }},
                   {"a length in updates, stepped once in eight", Expect::kWarning,
                    [] { return Scheduled({.horizon = 64, .every = 8}); }},
                   {"a length of eight epochs, stepped once per epoch", Expect::kClean,
                    [] {
                      return Scheduled(
                          {.horizon = 8, .rises_again = true, .every = 8, .batches = "8"});
                    }},
                   {"a length of eight epochs, stepped at each update", Expect::kWarning,
                    [] { return Scheduled({.horizon = 8, .rises_again = true, .batches = "8"}); }},
                   {"cycles of eight steps in epochs of sixteen", Expect::kClean,
                    [] { return Scheduled({.horizon = 8, .rises_again = true, .batches = "16"}); }},
                   {"cycles without a known pass length", Expect::kNote,
                    [] { return Scheduled({.horizon = 8, .rises_again = true}); }},
                   {"warm restarts each eight steps", Expect::kClean,
                    [] { return Scheduled({.horizon = 8, .restarts = true}); }},
                   {"warm restarts of which none came", Expect::kNote,
                    [] { return Scheduled({.horizon = 1000, .restarts = true}); }},
                   {"milestones within the first of eight passes", Expect::kWarning,
                    [] { return Scheduled({.horizon = 6, .milestones = true, .batches = "8"}); }},
                   {"milestones within the run", Expect::kClean,
                    [] { return Scheduled({.horizon = 48, .milestones = true, .batches = "8"}); }},
                   {"a length in micro-batches", Expect::kWarning,
                    [] { return Scheduled({.horizon = 256, .backward_calls = 4}); }},
                   {"a finished warm-up", Expect::kClean, [] { return Scheduled({.horizon = 5}); }},
                   {"a run that ended early", Expect::kNote,
                    [] { return Scheduled({.horizon = 1000}); }},
                   {"one of two schedulers that ended early", Expect::kNote,
                    [] { return Scheduled({.horizon = 1000, .is_second = true}); }},
                   {"a decay each 20 steps", Expect::kClean,
                    [] { return Scheduled({.horizon = 20, .no_end = true}); }},
                   {"a decay after more steps than were made", Expect::kNote,
                    [] { return Scheduled({.horizon = 100, .no_end = true}); }}},
  };
}

}  // namespace dlcheck::schedule

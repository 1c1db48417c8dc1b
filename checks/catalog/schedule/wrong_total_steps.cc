#include <algorithm>
#include <cmath>

#include "checks/catalog/examples/scheduler_runs.h"
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

struct Counts {
  double horizon, moves, calls, backward_calls;
  const std::vector<double>& batches_in_pass;
  double agreement;

  bool Agree(double a, double b) const { return std::abs(a - b) <= 1 + agreement * a; }
  // The length equals the number of passes over the data of some loader, three or more.
  bool IsInPasses() const {
    return horizon >= 3 && std::ranges::any_of(batches_in_pass, [this](double batches) {
             return std::abs(backward_calls / batches - horizon) <= agreement * horizon;
           });
  }
};

// Empty if nothing is wrong.
std::string WhatIsWrong(const Counts& n, bool rises_again, Severity& severity) {
  severity = Severity::kWarning;
  if (n.Agree(n.horizon, n.calls) && n.moves >= 2 && n.moves <= n.calls / 4) {
    return ". Its length equals the number of step calls, so it should have stepped at each of "
           "them";
  }
  const bool moves_each_step = n.Agree(n.moves, n.calls);
  if (rises_again && n.moves >= 2 * n.horizon) {
    if (!moves_each_step) return "";
    if (n.IsInPasses()) {
      return ". Its length equals the number of passes over the data, so it should have stepped "
             "once per pass; its learning rate rose repeatedly";
    }
    severity = Severity::kNote;
    return n.batches_in_pass.empty() ? ", so its learning rate rose repeatedly" : "";
  }
  if (n.horizon < 2 * n.moves || n.moves < 2) return "";
  if (moves_each_step && n.Agree(n.horizon, n.backward_calls)) {
    return ". Its length equals the number of backward calls, but several backward calls make one "
           "step, so it stopped far from its end";
  }
  severity = Severity::kNote;
  return ": the run ended before half of the schedule";
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Schedulers& schedulers) {
  Verdict verdict{.findings = {}, .judged = JudgedSchedulers(schedulers)};
  const bool judged = schedulers.finished && !schedulers.state_loaded &&
                      schedulers.has_one_optimizer() && schedulers.schedulers.size() == 1;
  if (!judged) return verdict;
  const Schedulers::Scheduler& scheduler = schedulers.schedulers.front();
  const auto calls = static_cast<double>(scheduler.calls_since_built);
  if (scheduler.horizon <= 1 || calls < settings[kSteps]) return verdict;
  const Counts counts{.horizon = scheduler.horizon,
                      .moves = static_cast<double>(scheduler.most),
                      .calls = calls,
                      .backward_calls = static_cast<double>(schedulers.backward_calls),
                      .batches_in_pass = schedulers.batches_in_pass,
                      .agreement = settings[kAgreement]};
  Severity severity;
  const std::string wrong = WhatIsWrong(counts, scheduler.rises_again, severity);
  if (wrong.empty()) return verdict;
  verdict.findings.push_back(
      FindingAbout(schedulers, scheduler, severity,
                   StrCat(scheduler.name, " has a length of ", WithCommas(Whole(counts.horizon)),
                          " steps, but stepped ", WithCommas(scheduler.most), " times in ",
                          Counted(scheduler.calls_since_built, "step call"), wrong, "."),
                   counts.moves, counts.horizon));
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
          "0.01 show the intended unit.",
      .fix =
          "Give the scheduler the number of scheduler.step() calls: the steps of all epochs, "
          "divided by the micro-batches per step. If it is stepped per epoch, give it the number "
          "of epochs.",
      .limits =
          {.needs = "One optimizer and one scheduler in a run that starts from scratch, ends "
                    "normally and has 50 step calls.",
           .silent_when =
               "Repeated cosine cycles, unless their length is the number of passes over the data.",
           .severity = "Warning. Note if the run ends before half of its schedule and no other "
                       "count agrees. Note for cycles if the number of passes is not known.",
           .blind_spots = "",
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
      .cpp = {},
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
                   {"a length in micro-batches", Expect::kWarning,
                    [] { return Scheduled({.horizon = 256, .backward_calls = 4}); }},
                   {"a finished warm-up", Expect::kClean, [] { return Scheduled({.horizon = 5}); }},
                   {"a run that ended early", Expect::kNote,
                    [] { return Scheduled({.horizon = 1000}); }}},
  };
}

}  // namespace dlcheck::schedule

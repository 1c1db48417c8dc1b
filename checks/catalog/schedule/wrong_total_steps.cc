#include <algorithm>
#include <cmath>

#include "checks/catalog/scheduler_finding.h"
#include "checks/catalog/scheduler_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/whole.h"
#include "checks/signals/schedulers.h"

namespace dlcheck::schedule {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 50,
                         .low = 1,
                         .high = 1e6,
                         .unit = "step calls",
                         .meaning = "fewest step calls of a run that is judged",
                         .source = "own reasoning: a shorter run may be one to try things out"};
constexpr Setting kAgreement{
    .name = "agreement",
    .value = 0.01,
    .low = 0,
    .high = 0.2,
    .unit = "1",
    .meaning = "relative difference of two counts that are meant to be the same, beside one",
    .source = "own reasoning: both come out of the length of the loader and the epochs"};

struct Counts {
  double horizon, moves, calls, backward_calls;
  const std::vector<double>& batches_in_pass;
  double agreement;

  bool Agree(double a, double b) const { return std::abs(a - b) <= 1 + agreement * a; }
  // The horizon is how often the program went over the data of some loader, three times or more.
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
    return ": as many moves as there were step calls, so it moved once in several steps where "
           "each was meant";
  }
  const bool moves_each_step = n.Agree(n.moves, n.calls);
  if (rises_again && n.moves >= 2 * n.horizon) {
    if (!moves_each_step) return "";
    if (n.IsInPasses()) {
      return ": as many moves as there were passes over the data, so it moved at every step where "
             "once in each pass was meant, and the rate rises again and again";
    }
    severity = Severity::kNote;
    return n.batches_in_pass.empty() ? ", so that the rate rises again and again" : "";
  }
  if (n.horizon < 2 * n.moves || n.moves < 2) return "";
  if (moves_each_step && n.Agree(n.horizon, n.backward_calls)) {
    return ": as many moves as there were backward calls, of which several make a step, so that "
           "it ended far from its end";
  }
  severity = Severity::kNote;
  return ": the run ended before half of it";
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
  verdict.findings.push_back(FindingAbout(
      schedulers, scheduler, severity,
      StrCat(scheduler.name, " is made for ", WithCommas(Whole(counts.horizon)),
             " moves and made ", WithCommas(scheduler.most), " in ",
             Counted(scheduler.calls_since_built, "step call"), wrong, "."),
      counts.moves, counts.horizon));
  return verdict;
}

}  // namespace

Check WrongTotalSteps() {
  return {
      .id = "schedule/wrong_total_steps",
      .promise = "A scheduler is stepped as often as it is made for.",
      .why =
          "A schedule that is stepped too seldom never comes down; one that is stepped too often "
          "is over, or rises again, after a fraction of the training.",
      .method =
          "The moves that a scheduler is made for, against the moves it made, the step calls, the "
          "backward calls and the passes over the data of a run that ended by itself. Two counts "
          "that agree to a hundredth say which was meant.",
      .fix =
          "Give the scheduler the number of times that scheduler.step() will be called: steps "
          "times epochs, divided by the micro-batches of a step, or the epochs alone.",
      .limits =
          "Judges runs of one optimizer and one scheduler that began afresh. A run that ends "
          "before half of its schedule for no reason that the counts give is a note. Cycles of a "
          "cosine are legal, unless their length is the number of passes over the data; a note if "
          "that number is not known.",
      .sources = {"lightning issue 1476 and accelerate issues 963 and 999: per epoch, per step",
                  "own reasoning for which counts have to agree"},
      .covers = {"S01", "S03", "P07"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kSchedule,
      .settings = {kSteps, kAgreement},
      .judgement = Reads<&Judge>(),
      .examples = {{"one move a step", Expect::kClean, [] { return Scheduled({.horizon = 64}); }},
                   {"made for steps, moved once in eight", Expect::kFaulty,
                    [] { return Scheduled({.horizon = 64, .every = 8}); }},
                   {"made for eight epochs, moved once in each", Expect::kClean,
                    [] {
                      return Scheduled(
                          {.horizon = 8, .rises_again = true, .every = 8, .batches = "8"});
                    }},
                   {"made for eight epochs, moved at each step", Expect::kFaulty,
                    [] { return Scheduled({.horizon = 8, .rises_again = true, .batches = "8"}); }},
                   {"cycles of eight steps in epochs of sixteen", Expect::kClean,
                    [] { return Scheduled({.horizon = 8, .rises_again = true, .batches = "16"}); }},
                   {"cycles where the length of a pass is not known", Expect::kFaulty,
                    [] { return Scheduled({.horizon = 8, .rises_again = true}); }},
                   {"made for micro-batches", Expect::kFaulty,
                    [] { return Scheduled({.horizon = 256, .backward_calls = 4}); }},
                   {"a warm-up that is over", Expect::kClean,
                    [] { return Scheduled({.horizon = 5}); }},
                   {"ended early", Expect::kFaulty, [] { return Scheduled({.horizon = 1000}); }}},
  };
}

}  // namespace dlcheck::schedule

#include "checks/catalog/schedule_finding.h"
#include "checks/catalog/schedule_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::schedule {
namespace {

absl::StatusOr<Verdict> Judge(const Settings& settings, const ScheduleFit& fit) {
  Verdict verdict = NothingFound(fit);
  AddFinding(
      fit, ScheduleFit::Kind::kUngoverned, Severity::kError, settings[kDifferingSteps],
      [](const ScheduleFit::Group& group) {
        return StrCat("kept the rate ", Short(group.used),
                      " all the time although its schedule moves and another group of its "
                      "optimizer follows one");
      },
      verdict);
  return verdict;
}

// The second group follows the schedule only up to `last`.
Evidence SecondFollowsUpTo(int64_t last) {
  return RatesUsed([=](int group, int64_t step) {
    return group == 0 || step <= last ? ScheduledRate(step) : ScheduledRate(last);
  });
}

}  // namespace

Check UnscheduledGroup() {
  return {
      .id = "schedule/unscheduled_group",
      .promise = "The schedule moves the rate of every group that it is said to govern.",
      .why =
          "The parameters of that group train without warm-up and without decay, while a log of "
          "the first group's rate looks right.",
      .method =
          "The rate that each group used is compared with what its schedule gives for the same "
          "step: one that never moves, beside a group of the same optimizer that does, was left "
          "out.",
      .fix =
          "Set lr of every group in optimizer.param_groups(), not of the first alone; in C++ edit "
          "group.options(), not a copy of it.",
      .limits =
          "Needs a program that says what its schedule gives each group (Probe::Scheduled). A "
          "group that is to keep its rate is to be told that rate.",
      .sources = {"PyTorch documentation of torch.optim: per-parameter options", "own reasoning"},
      .covers = {"S06", "B11"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kSchedule,
      .settings = {kDifferingSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"both groups follow", Expect::kClean,
                    [] { return SecondFollowsUpTo(kScheduledSteps); }},
                   {"the second keeps its first rate", Expect::kFaulty,
                    [] { return SecondFollowsUpTo(0); }}},
  };
}

}  // namespace dlcheck::schedule

#include "checks/catalog/examples/schedule_runs.h"
#include "checks/catalog/findings/schedule_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::schedule {
namespace {

absl::StatusOr<Verdict> Judge(const Settings& settings, const ScheduleFit& fit) {
  Verdict verdict = NothingFound(fit);
  AddFinding(
      fit, ScheduleFit::Kind::kUngoverned, Severity::kError, settings[kDifferingSteps],
      [](const ScheduleFit::Group& group) {
        return StrCat("kept the learning rate ", Short(group.used),
                      " although its schedule changes and another group of the same optimizer "
                      "follows the schedule");
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
      .title = "The schedule skips a parameter group",
      .promise =
          "The schedule changes the learning rate of every parameter group that it is declared "
          "for.",
      .why =
          "The parameters of the skipped group train without warm-up and decay. A log of the first "
          "group's learning rate still looks right.",
      .method =
          "Compares the learning rate of each parameter group with the schedule's value for the "
          "same update. A group with a constant learning rate, beside a scheduled group of the "
          "same optimizer, was skipped.",
      .fix =
          "Set lr in every group of optimizer.param_groups, not only in the first. In C++, edit "
          "group.options() in place, not a copy.",
      .limits = {.needs = "A schedule for each group, declared by "
                          "dlcheck::Probe::ExpectLearningRates or recipe.",
                 .silent_when = "The declared schedule of a group is constant, which is how to "
                                "declare a group that keeps its learning rate.",
                 .severity = "",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(def set_lr(optimizer, lr):
    group = optimizer.param_groups[0]
    group["lr"] = lr)",
                 .good = R"(def set_lr(optimizer, lr):
    for group in optimizer.param_groups:
        group["lr"] = lr)"},
      .cpp = {.bad = R"(auto group = optimizer.param_groups()[1];  // a copy
group.options().set_lr(lr);)",
              .good = R"(for (auto& group : optimizer.param_groups()) {
  group.options().set_lr(lr);
})"},
      .sources = {"PyTorch documentation of torch.optim: per-parameter options", "own reasoning"},
      .covers = {"scheduler-of-another-optimizer", "cpp-copied-options"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kSchedule,
      .settings = {kDifferingSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"both groups follow the schedule", Expect::kClean,
                    [] { return SecondFollowsUpTo(kScheduledSteps); }},
                   {"the second group keeps its first learning rate", Expect::kError,
                    [] { return SecondFollowsUpTo(0); }}},
  };
}

}  // namespace dlcheck::schedule

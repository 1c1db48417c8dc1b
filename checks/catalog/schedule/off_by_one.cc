#include <cstdlib>

#include "checks/catalog/schedule_finding.h"
#include "checks/catalog/schedule_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::schedule {
namespace {

absl::StatusOr<Verdict> Judge(const Settings& settings, const ScheduleFit& fit) {
  Verdict verdict = NothingFound(fit);
  AddFinding(
      fit, ScheduleFit::Kind::kShifted, Severity::kError, settings[kDifferingSteps],
      [](const ScheduleFit::Group& group) {
        return StrCat("used what the schedule gives ", Counted(std::abs(group.shift), "update"),
                      group.shift > 0 ? " later" : " earlier");
      },
      verdict);
  return verdict;
}

Evidence ShiftedBy(int64_t shift, bool leaves_out = false) {
  return RatesUsed([=](int, int64_t update) { return ScheduledRate(update + shift); }, leaves_out);
}

}  // namespace

Check OffByOne() {
  return {
      .id = "schedule/off_by_one",
      .promise = "Every step uses the rate that the schedule gives for it, not that of another.",
      .why =
          "The first rate is never used or used twice, warm-up and decay end at the wrong step, "
          "and "
          "a run cannot be compared with one whose schedule is right.",
      .method =
          "The rate that each group used is compared with what its schedule gives for the same "
          "step; where it differs, with what it gives one and two updates before and after. "
          "Steps that were left out repeat their rate.",
      .fix =
          "Call scheduler.step() once, after optimizer.step(); compute a rate that is set by hand "
          "from the number of updates done before the step.",
      .limits =
          "Needs a program that says what its schedule gives (Probe::Scheduled), and a schedule "
          "that moves. An exponential schedule that is scaled by one step's factor looks shifted.",
      .sources = {"PyTorch documentation of torch.optim: how to adjust learning rate",
                  "own reasoning"},
      .covers = {"S04", "S05"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kSchedule,
      .settings = {kDifferingSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"the rate of the step itself", Expect::kClean, [] { return ShiftedBy(0); }},
                   {"kept in float32", Expect::kClean,
                    [] {
                      return RatesUsed([](int, int64_t step) {
                        return static_cast<double>(static_cast<float>(ScheduledRate(step)));
                      });
                    }},
                   {"steps that were left out", Expect::kClean, [] { return ShiftedBy(0, true); }},
                   {"the rate of the next update, where steps were left out", Expect::kFaulty,
                    [] { return ShiftedBy(1, true); }},
                   {"the rate of the next step", Expect::kFaulty, [] { return ShiftedBy(1); }},
                   {"the rate of the step before", Expect::kFaulty, [] { return ShiftedBy(-1); }}},
  };
}

}  // namespace dlcheck::schedule

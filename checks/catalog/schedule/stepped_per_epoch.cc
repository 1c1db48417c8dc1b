#include "checks/catalog/schedule_finding.h"
#include "checks/catalog/schedule_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::schedule {
namespace {

absl::StatusOr<Verdict> Judge(const Settings& settings, const ScheduleFit& fit) {
  Verdict verdict = NothingFound(fit);
  AddFinding(
      fit, ScheduleFit::Kind::kHeld, Severity::kError, settings[kDifferingSteps],
      [](const ScheduleFit::Group& group) {
        return StrCat("kept one rate for up to ", Counted(group.stretch, "step"),
                      ", each time the one that the schedule gives for the first of them");
      },
      verdict);
  return verdict;
}

// The rate is set anew every `length` steps.
Evidence SetEvery(int64_t length) {
  return RatesUsed([=](int, int64_t step) { return ScheduledRate(step - step % length); });
}

}  // namespace

Check SteppedPerEpoch() {
  return {
      .id = "schedule/stepped_per_epoch",
      .promise = "A schedule made for steps moves the rate at every step, not now and then.",
      .why =
          "A warm-up of a few steps becomes one jump to the full rate, and the rate lags behind "
          "its schedule by up to an epoch.",
      .method =
          "The rate that each group used is compared with what its schedule gives for the same "
          "step: constant over stretches in which the schedule moves, and right at the beginning "
          "of each, means that somebody sets it once for a stretch.",
      .fix =
          "Call scheduler.step() after every optimizer.step(), inside the loop over batches; or "
          "make the schedule for epochs.",
      .limits =
          "Needs a program that says what its schedule gives (Probe::Scheduled). A schedule that "
          "is itself made of stretches is compared as it is.",
      .sources = {"PyTorch documentation of torch.optim: how to adjust learning rate",
                  "own reasoning"},
      .covers = {"S01"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kSchedule,
      .settings = {kDifferingSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"set at every step", Expect::kClean, [] { return SetEvery(1); }},
                   {"set at every other step", Expect::kFaulty, [] { return SetEvery(2); }},
                   {"set once in ten steps", Expect::kFaulty, [] { return SetEvery(10); }}},
  };
}

}  // namespace dlcheck::schedule

#include "checks/catalog/examples/schedule_runs.h"
#include "checks/catalog/findings/schedule_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::schedule {
namespace {

absl::StatusOr<Verdict> Judge(const Settings& settings, const ScheduleFit& fit) {
  Verdict verdict = NothingFound(fit);
  AddFinding(
      fit, ScheduleFit::Kind::kHeld, Severity::kError, settings[kDifferingSteps],
      [](const ScheduleFit::Group& group) {
        return StrCat("kept one learning rate for up to ", Counted(group.stretch, "step"),
                      ", each time the schedule's value for the first of these steps");
      },
      verdict);
  return verdict;
}

// The learning rate is set every `length` steps.
Evidence SetEvery(int64_t length) {
  return RatesUsed([=](int, int64_t step) { return ScheduledRate(step - step % length); });
}

}  // namespace

Check SteppedPerEpoch() {
  return {
      .id = "schedule/stepped_per_epoch",
      .title = "A per-update LR schedule is stepped per epoch",
      .promise = "A schedule made for updates changes the learning rate at every update.",
      .why =
          "A warm-up of a few updates becomes one jump to the full learning rate. The learning "
          "rate lags behind its schedule by up to an epoch.",
      .method =
          "Compares the learning rate of each parameter group with the schedule's value for the "
          "same update. The learning rate stays constant while the schedule changes, and is right "
          "only at the start of each constant phase.",
      .fix =
          "Call scheduler.step() after every optimizer.step(), inside the loop over batches. Or "
          "make the schedule for epochs.",
      .limits = {.needs = "A schedule that changes, declared by "
                          "dlcheck::Probe::ExpectLearningRates or recipe.",
                 .silent_when =
                     "A schedule that is itself piecewise constant is compared as it is.",
                 .severity = "",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(scheduler = OneCycleLR(optimizer, 0.1, total_steps=epochs * len(loader))
for epoch in range(epochs):
    for x, y in loader:
        train_step(model, optimizer, x, y)
    scheduler.step())",
                 .good = R"(scheduler = OneCycleLR(optimizer, 0.1, total_steps=epochs * len(loader))
for epoch in range(epochs):
    for x, y in loader:
        train_step(model, optimizer, x, y)
        scheduler.step())"},
      .cpp = {},
      .sources = {"PyTorch documentation of torch.optim: how to adjust learning rate",
                  "own reasoning"},
      .covers = {"wrong-scheduler-interval"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kSchedule,
      .settings = {kDifferingSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"set at every step", Expect::kClean, [] { return SetEvery(1); }},
                   {"set at every other step", Expect::kError, [] { return SetEvery(2); }},
                   {"set once in ten steps", Expect::kError, [] { return SetEvery(10); }}},
  };
}

}  // namespace dlcheck::schedule

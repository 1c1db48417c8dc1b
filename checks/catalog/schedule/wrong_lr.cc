#include <algorithm>

#include "checks/catalog/examples/schedule_runs.h"
#include "checks/catalog/findings/schedule_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::schedule {
namespace {

absl::StatusOr<Verdict> Judge(const Settings& settings, const ScheduleFit& fit) {
  Verdict verdict = NothingFound(fit);
  AddFinding(
      fit, ScheduleFit::Kind::kOther, Severity::kError, settings[kDifferingSteps],
      [](const ScheduleFit::Group& group) {
        return std::string(group.moves
                               ? "followed a learning rate that is not the schedule's"
                               : "kept a constant learning rate although the schedule changes");
      },
      verdict);
  AddFinding(
      fit, ScheduleFit::Kind::kScaled, Severity::kNote, settings[kDifferingSteps],
      [](const ScheduleFit::Group& group) {
        return StrCat("used ", Short(group.factor), " times the schedule's learning rate");
      },
      verdict);
  return verdict;
}

// `factor` times the schedule from step 30 on.
Evidence LaterTimes(double factor) {
  return RatesUsed(
      [=](int, int64_t step) { return ScheduledRate(step) * (step < 30 ? 1 : factor); });
}

}  // namespace

Check WrongLr() {
  return {
      .id = "schedule/wrong_lr",
      .title = "The learning rate differs from its schedule",
      .promise = "Every update uses the learning rate that the schedule gives for that update.",
      .why =
          "The training does not have the planned warm-up, decay or length. Logs of the schedule "
          "do not show the real learning rate.",
      .method =
          "Compares the learning rate of each parameter group with the schedule's value for the "
          "same update. Reports differences that no other check of this area names, such as "
          "another length, another phase or no change.",
      .fix =
          "Check the schedule's total number of steps (accumulation, epochs and ranks counted) and "
          "the end of its warm-up. Look for other code that sets lr.",
      .limits = {.needs = "A schedule that changes, declared by "
                          "dlcheck::Probe::ExpectLearningRates or recipe.",
                 .silent_when = "",
                 .severity = "Error. Note for a constant multiple of the schedule, as with "
                             "layer-wise learning rates, and for one or two differing steps.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(def lr_at(step):
    if step < warmup:
        return base_lr * step / warmup
    return base_lr * 0.5 * (1 + math.cos(math.pi * step / warmup)))",
                 .good = R"(def lr_at(step):
    if step < warmup:
        return base_lr * step / warmup
    progress = (step - warmup) / (total_steps - warmup)
    return base_lr * 0.5 * (1 + math.cos(math.pi * progress)))"},
      .cpp = {},
      .sources = {"PyTorch documentation of torch.optim.lr_scheduler", "own reasoning"},
      .covers = {"stepped-once-per-rank", "wrong-schedule-length", "wrong-logged-learning-rate",
                 "learning-rate-reset-on-resume", "cpp-copied-options"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kSchedule,
      .settings = {kDifferingSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"a difference of rounding error", Expect::kClean,
                    [] { return LaterTimes(1 + 1e-7); }},
                   {"off by 0.01 in the last steps", Expect::kError,
                    [] { return LaterTimes(1.01); }},
                   {"a lower limit of the learning rate", Expect::kError,
                    [] {
                      return RatesUsed(
                          [](int, int64_t step) { return std::max(ScheduledRate(step), 0.01); });
                    }},
                   {"a constant learning rate in both groups", Expect::kError,
                    [] { return RatesUsed([](int, int64_t) { return 0.1; }); }}},
  };
}

}  // namespace dlcheck::schedule

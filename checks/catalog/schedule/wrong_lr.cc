#include <algorithm>

#include "checks/catalog/schedule_finding.h"
#include "checks/catalog/schedule_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::schedule {
namespace {

absl::StatusOr<Verdict> Judge(const Settings& settings, const ScheduleFit& fit) {
  Verdict verdict = NothingFound(fit);
  AddFinding(
      fit, ScheduleFit::Kind::kOther, Severity::kError, settings[kDifferingSteps],
      [](const ScheduleFit::Group& group) {
        return std::string(group.moves ? "followed a rate that is not the schedule's"
                                       : "never moved their rate although the schedule does");
      },
      verdict);
  AddFinding(
      fit, ScheduleFit::Kind::kScaled, Severity::kNote, settings[kDifferingSteps],
      [](const ScheduleFit::Group& group) {
        return StrCat("used ", Short(group.factor), " times what the schedule gives");
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
      .promise = "The rate that a step uses is the one that the schedule gives for it.",
      .why =
          "The training does not have the warm-up, the decay or the length that was asked for; "
          "what is logged from the schedule is not what was done.",
      .method =
          "The rate that each group used is compared with what its schedule gives for the same "
          "step, where the two differ in no way that another check of this area names: another "
          "horizon, another phase, no motion at all.",
      .fix =
          "Look at the schedule's total number of steps (accumulation, epochs and ranks counted), "
          "at where its warm-up ends, and at who else writes lr.",
      .limits =
          "Needs a program that says what its schedule gives (Probe::Scheduled). A constant "
          "multiple of the schedule, as with layer-wise rates, and one or two steps are a note.",
      .sources = {"PyTorch documentation of torch.optim.lr_scheduler", "own reasoning"},
      .covers = {"S02", "S03", "S08", "K10", "B11"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kSchedule,
      .settings = {kDifferingSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"off by rounding", Expect::kClean, [] { return LaterTimes(1 + 1e-7); }},
                   {"off by a hundredth in the last steps", Expect::kFaulty,
                    [] { return LaterTimes(1.01); }},
                   {"a floor below which it does not go", Expect::kFaulty,
                    [] {
                      return RatesUsed(
                          [](int, int64_t step) { return std::max(ScheduledRate(step), 0.01); });
                    }},
                   {"neither group ever moves", Expect::kFaulty,
                    [] { return RatesUsed([](int, int64_t) { return 0.1; }); }}},
  };
}

}  // namespace dlcheck::schedule

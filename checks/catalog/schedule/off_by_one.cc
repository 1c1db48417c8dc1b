#include <cstdlib>

#include "checks/catalog/examples/schedule_runs.h"
#include "checks/catalog/findings/schedule_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::schedule {
namespace {

absl::StatusOr<Verdict> Judge(const Settings& settings, const ScheduleFit& fit) {
  Verdict verdict = NothingFound(fit);
  AddFinding(
      fit, ScheduleFit::Kind::kShifted, Severity::kError, settings[kDifferingSteps],
      [](const ScheduleFit::Group& group) {
        return StrCat("used the schedule's learning rate of ",
                      Counted(std::abs(group.shift), "update"),
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
      .title = "The LR schedule runs one or two updates off",
      .promise = "Every update uses the learning rate that the schedule gives for that update.",
      .why =
          "The first learning rate is skipped or used twice. Warm-up and decay end at the wrong "
          "update, and runs are not comparable with those of a correct schedule.",
      .method =
          "Compares the learning rate of each parameter group with the schedule's value for the "
          "same update. If they differ, compares it with the values one and two updates before "
          "and after. Skipped updates repeat their learning rate.",
      .fix =
          "Call scheduler.step() once per update, after optimizer.step(). If you compute the "
          "learning rate yourself, use the number of updates done before this one.",
      .limits = {.needs = "A schedule that changes, declared by "
                          "dlcheck::Probe::ExpectLearningRates or recipe.",
                 .silent_when = "",
                 .severity = "",
                 .blind_spots = "An exponential schedule with a wrong factor of exactly one update "
                                "looks off by one.",
                 .sensitivity = ""},
      .python = {.bad = R"(for x, y in loader:
    scheduler.step()  # the first learning rate is never used
    train_step(model, optimizer, x, y))",
                 .good = R"(for x, y in loader:
    train_step(model, optimizer, x, y)
    scheduler.step())"},
      .cpp = {.bad = R"(for (int64_t update = 0; update < updates; ++update) {
  group.options().set_lr(schedule(update + 1));
  optimizer.step();
})",
              .good = R"(for (int64_t update = 0; update < updates; ++update) {
  group.options().set_lr(schedule(update));
  optimizer.step();
})"},
      .sources = {"PyTorch documentation of torch.optim: how to adjust learning rate",
                  "own reasoning"},
      .covers = {"shifted-schedule", "zero-learning-rate"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kSchedule,
      .settings = {kDifferingSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"the learning rate of the update itself", Expect::kClean,
                    [] { return ShiftedBy(0); }},
                   {"kept in float32", Expect::kClean,
                    [] {
                      return RatesUsed([](int, int64_t step) {
                        return static_cast<double>(static_cast<float>(ScheduledRate(step)));
                      });
                    }},
                   {"skipped steps", Expect::kClean, [] { return ShiftedBy(0, true); }},
                   {"the learning rate of the next update, with skipped steps", Expect::kError,
                    [] { return ShiftedBy(1, true); }},
                   {"the learning rate of the next update", Expect::kError,
                    [] { return ShiftedBy(1); }},
                   {"the learning rate of the previous update", Expect::kError,
                    [] { return ShiftedBy(-1); }}},
  };
}

}  // namespace dlcheck::schedule

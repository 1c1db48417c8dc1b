#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/findings/scheduler_finding.h"
#include "checks/catalog/findings/undone_changes.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/schedule/schedulers.h"

namespace dlcheck::schedule {
namespace {

constexpr Setting kChanges{.name = "changes",
                           .value = 3,
                           .low = 1,
                           .high = 1e6,
                           .unit = "scheduler steps",
                           .meaning = "fewest changes of the learning rate that are undone",
                           .source =
                               "own reasoning: one or two may be those of a hand-over from "
                               "one schedule to the next"};

// Their learning rate follows from the initial one and the number of their steps alone.
constexpr std::array<std::string_view, 4> kSetsAnew = {"CosineAnnealingWarmRestarts", "CyclicLR",
                                                       "LambdaLR", "OneCycleLR"};

using Scheduler = Schedulers::Scheduler;

bool SetsAnew(const Scheduler& scheduler) {
  const std::string_view name = scheduler.name;
  return std::ranges::any_of(kSetsAnew, [&](std::string_view kind) {
    return name == kind || (name.starts_with(kind) && name.substr(kind.size()).starts_with(" of "));
  });
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Schedulers& schedulers) {
  Verdict verdict{.findings = {}, .judged = JudgedSchedulers(schedulers)};
  const std::vector<Scheduler>& all = schedulers.schedulers;
  for (size_t lost = 0; lost < all.size(); ++lost) {
    if (all[lost].optimizer == 0) continue;
    for (size_t winner = 0; winner < all.size(); ++winner) {
      if (winner == lost || all[winner].optimizer != all[lost].optimizer) continue;
      if (!SetsAnew(all[winner])) continue;
      const auto undone = ChangesUndone(schedulers, lost, winner, SetsAnew(all[lost]));
      if (!undone || static_cast<double>(undone->changes) < settings[kChanges]) continue;
      Finding finding = FindingAbout(
          schedulers, all[lost], Severity::kWarning,
          StrCat(all[winner].name, " undid ",
                 undone->changes == 1 ? std::string("the only change")
                                      : StrCat("all ", WithCommas(undone->changes), " changes"),
                 " of the learning rate that were seen of ", all[lost].name, ", the first from ",
                 Short(undone->from), " to ", Short(undone->to), "."),
          static_cast<double>(undone->changes), settings[kChanges]);
      finding.first_step = undone->first_step;
      finding.last_step = undone->last_step;
      finding.count = undone->changes;
      verdict.findings.push_back(std::move(finding));
      break;
    }
  }
  return verdict;
}

struct Values {
  std::string_view second = "LambdaLR";
  double factor = 1;         // of the initial rate, that the second scheduler sets
  bool takes_over = false;   // the second begins where the first ends
  bool comes_first = false;  // the second moves before the first
};

// Eight steps with a decay and a second scheduler after each.
Evidence Two(const Values& values) {
  RunBuilder run = TwoLayers();
  run.Attribute("optimizer", "optimizer#0", "type", "SGD");
  run.Owner("optimizer", "optimizer#0");
  run.Event(Event::kScheduler, 0, "scheduler", "ExponentialLR");
  run.Event(Event::kScheduler, 0, "scheduler", values.second);
  double rate = 0.1;
  for (int step = 0; step < 8; ++step) {
    run.Owner("");
    AddStep(run, {.held = {}});
    run.Owner("optimizer", "optimizer#0");
    const auto decay = [&] {
      rate *= 0.9;
      run.Event(Event::kSchedule, rate, "scheduler", "ExponentialLR", step + 1);
    };
    const auto second = [&] {
      rate = values.second == "LambdaLR" ? 0.1 * values.factor : rate * values.factor;
      run.Event(Event::kSchedule, rate, "scheduler", values.second, step + 1);
    };
    if (values.comes_first) second();
    if (!values.takes_over || step < 4) decay();
    if (!values.comes_first && (!values.takes_over || step >= 4)) second();
  }
  return PlainOnly(run);
}

}  // namespace

Check OverwrittenSchedule() {
  return {
      .id = "schedule/overwritten_schedule",
      .title = "One scheduler undoes the changes of another",
      .promise = "A scheduler's change of the learning rate lasts until its next change.",
      .why =
          "LambdaLR, OneCycleLR, CyclicLR and CosineAnnealingWarmRestarts compute the learning "
          "rate from the initial one. Stepped together with another scheduler of the same "
          "optimizer, they discard what the other did, so its schedule has no effect.",
      .method =
          "Compares the learning rates that two schedulers of one optimizer set. A change is "
          "undone "
          "if a scheduler that starts from the initial learning rate sets another value before "
          "the next change or step. All changes that were seen must be undone.",
      .fix =
          "Use SequentialLR for one schedule after the other. To multiply schedules, write one "
          "LambdaLR with the product of both factors.",
      .limits = {.needs =
                     "Two schedulers of one optimizer, and three changes of the learning rate.",
                 .silent_when =
                     "Some change of the first scheduler lasted, as where one takes over from the "
                     "other.",
                 .severity = "Always a warning.",
                 .blind_spots = "Schedulers of other libraries, subclasses, and the parts of a "
                                "ChainedScheduler. Only the first parameter group is compared.",
                 .sensitivity = ""},
      .python = {.bad = R"(warmup = LambdaLR(optimizer, lambda s: min(1, (s + 1) / 500))
cosine = CosineAnnealingLR(optimizer, T_max=total_steps)
for x, y in loader:
    train_step(model, optimizer, x, y)
    cosine.step()
    warmup.step()  # sets the initial rate again)",
                 .good = R"(warmup = LinearLR(optimizer, 0.01, total_iters=500)
cosine = CosineAnnealingLR(optimizer, T_max=total_steps - 500)
scheduler = SequentialLR(optimizer, [warmup, cosine], [500])
for x, y in loader:
    train_step(model, optimizer, x, y)
    scheduler.step())"},
      .cpp = {.bad = R"(for (auto& batch : *loader) {
  group.options().set_lr(1e-3);  // sets the initial rate again
  TrainStep(model, optimizer, batch);
  scheduler.step();
})",
              .good = R"(group.options().set_lr(1e-3);
for (auto& batch : *loader) {
  TrainStep(model, optimizer, batch);
  scheduler.step();
})"},
      .sources = {"PyTorch source: get_lr() of LambdaLR, OneCycleLR, CyclicLR and "
                  "CosineAnnealingWarmRestarts reads no current learning rate"},
      .covers = {"conflicting-schedules"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kScheduler,
      .settings = {kChanges},
      .judgement = Reads<&Judge>(),
      .examples = {{"a second decay", Expect::kClean,
                    [] { return Two({.second = "StepLR", .factor = 0.5}); }},
                   {"a factor of the initial rate", Expect::kWarning,
                    [] { return Two({.second = "LambdaLR", .factor = 0.5}); }},
                   {"a factor of the initial rate before each decay", Expect::kWarning,
                    [] { return Two({.factor = 0.5, .comes_first = true}); }},
                   {"a factor of the initial rate, after the decay has ended", Expect::kClean,
                    [] { return Two({.factor = 0.5, .takes_over = true}); }}},
  };
}

}  // namespace dlcheck::schedule

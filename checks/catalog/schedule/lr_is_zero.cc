#include <algorithm>
#include <iterator>
#include <map>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/schedule/learning_rates.h"
#include "checks/signals/schedule/schedulers.h"

namespace dlcheck::schedule {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 50,
                         .low = 2,
                         .high = 1e9,
                         .unit = "steps",
                         .meaning = "shortest run of one optimizer that is judged",
                         .source = "own reasoning: a warm-up from zero is a large part of fewer"};
constexpr Setting kDead{
    .name = "dead",
    .value = 1e-6,
    .low = 0,
    .high = 0.01,
    .unit = "of the highest learning rate",
    .meaning = "learning rate at or below which a step has no effect",
    .source = "own reasoning: float32 cannot hold such a small share of an update"};
constexpr Setting kShare{
    .name = "share",
    .value = 0.5,
    .low = 0.01,
    .high = 1,
    .unit = "1",
    .meaning = "largest share of steps with a learning rate of zero",
    .source = "own reasoning: a final phase at the lowest learning rate is normal"};

// Steps between two learning rates at or below `bound`; gaps between them count in full.
struct Dead {
  int64_t steps = 0, all = 0, first = -1, last = -1;
};

Dead DeadSteps(const std::map<int64_t, double>& rates, double bound) {
  Dead dead;
  for (auto at = rates.begin(), next = std::next(at); next != rates.end(); at = next++) {
    dead.all += next->first - at->first;
    if (!(at->second <= bound && next->second <= bound)) continue;
    dead.steps += next->first - at->first;
    if (dead.first < 0) dead.first = at->first;
    dead.last = next->first;
  }
  return dead;
}

// ReduceLROnPlateau lowers the rate while the metric does not improve, maybe for most of a run.
bool FollowsAPlateau(const IfSeen<Schedulers>& schedulers, const std::string& optimizer) {
  if (!schedulers) return false;
  return std::ranges::any_of(schedulers->schedulers, [&](const auto& scheduler) {
    return scheduler.optimizer_name == optimizer && scheduler.name.starts_with("ReduceLROnPlateau");
  });
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const LearningRates& rates,
                              const IfSeen<Schedulers>& schedulers) {
  Verdict verdict{.findings = {}, .judged = ""};
  int64_t judged = 0;
  for (const auto& [ordinal, optimizer] : rates.optimizers) {
    const Dead dead = DeadSteps(optimizer.highest, settings[kDead] * optimizer.peak);
    if (static_cast<double>(dead.all) < settings[kSteps]) continue;
    ++judged;
    const double share = static_cast<double>(dead.steps) / static_cast<double>(dead.all);
    if (share <= settings[kShare] || optimizer.moved_at_zero) continue;
    verdict.findings.push_back(
        {.severity =
             FollowsAPlateau(schedulers, optimizer.name) ? Severity::kNote : Severity::kWarning,
         .message =
             StrCat("The learning rate of ", optimizer.name, " was ",
                    optimizer.peak == 0 ? std::string("0")
                                        : StrCat("below ", Short(settings[kDead]),
                                                 " of its highest, ", Short(optimizer.peak), ","),
                    " in ", WithCommas(dead.steps), " of ", Counted(dead.all, "step"),
                    ", from step ", dead.first, ": these steps trained nothing."),
         .places = {{.thing = optimizer.name, .file = ""}},
         .first_step = dead.first,
         .last_step = dead.last,
         .count = dead.steps,
         .measured = share,
         .bound = settings[kShare]});
  }
  verdict.judged = Counted(judged, "optimizer");
  return verdict;
}

// `dead` steps at the end have a rate of zero.
Evidence Decaying(int dead) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 61; ++step) {
    run.Quantity(Quantity::kLearningRate, "group", "optimizer#0/group#0",
                 step > 60 - dead ? 0 : 0.1);
    AddStep(run, {.held = {}});
  }
  return PlainOnly(run);
}

}  // namespace

Check LrIsZero() {
  return {
      .id = "schedule/lr_is_zero",
      .title = "The learning rate is zero for most of the run",
      .promise = "The learning rate is nonzero for most of the training.",
      .why = "Steps at learning rate zero cost as much as other steps and train nothing.",
      .method =
          "Compares the highest learning rate of an optimizer's groups at every recorded step with "
          "the highest of the run. Steps between two zero-rate steps also count.",
      .fix =
          "Make the schedule as long as the run, or give it a final learning rate (eta_min, "
          "min_lr).",
      .limits = {.needs = "At least 50 steps of one optimizer.",
                 .silent_when = "The schedule reaches zero in the second half of the run. The "
                                "weights changed at learning rate zero.",
                 .severity = "Warning; note if ReduceLROnPlateau lowers the learning rate.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(scheduler = LinearLR(optimizer, 1.0, end_factor=0.0, total_iters=10)
for epoch in range(100):
    train_one_epoch(model, optimizer, loader)
    scheduler.step())",
                 .good = R"(scheduler = LinearLR(optimizer, 1.0, end_factor=0.01, total_iters=100)
for epoch in range(100):
    train_one_epoch(model, optimizer, loader)
    scheduler.step())"},
      .cpp = {.bad = R"(const double factor = std::max(0.0, 1 - epoch / 10.0);  // of 100 epochs
for (auto& group : optimizer.param_groups()) group.options().set_lr(0.1 * factor);)",
              .good = R"(const double factor = std::max(0.0, 1 - epoch / 100.0);  // of 100 epochs
for (auto& group : optimizer.param_groups()) group.options().set_lr(0.1 * factor);)"},
      .sources = {"own reasoning"},
      .covers = {"zero-learning-rate"},
      .explains = {"learnability/no_better_than_constant"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kScheduler,
      .settings = {kSteps, kDead, kShare},
      .judgement = Reads<&Judge>(),
      .examples = {{"zero for the last half", Expect::kClean, [] { return Decaying(31); }},
                   {"zero for more than half of the steps", Expect::kWarning,
                    [] { return Decaying(33); }}},
  };
}

}  // namespace dlcheck::schedule

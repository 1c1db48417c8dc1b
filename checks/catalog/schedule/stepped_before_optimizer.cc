#include <algorithm>

#include "checks/catalog/examples/scheduler_runs.h"
#include "checks/catalog/findings/scheduler_finding.h"
#include "checks/catalog/findings/step_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/step_order.h"

namespace dlcheck::schedule {
namespace {

// Steps of one scheduler, by their place in the order of calls.
struct MovePlaces {
  int64_t before_step = 0, elsewhere = 0;  // between the last backward call and the step
  int64_t before_first = 0;                // before the first step of the run, and its backward
  int64_t first_step = 0, last_step = 0;   // of the scheduler steps before optimizer steps
};

MovePlaces PlacesOfMoves(const StepOrder& order, const Schedulers::Scheduler& scheduler) {
  MovePlaces places;
  for (const StepOrder::Step& step : order.steps) {
    const int64_t backward = step.LastBackward();
    for (int64_t i = 0; i < step.end(); ++i) {
      const Occurrence& event = step.events[static_cast<size_t>(i)];
      if (event.event != Event::kSchedule || event.thing != scheduler.moves.front().thing) continue;
      // With a forward pass in between, the optimizer steps late, not the scheduler early.
      const bool is_between = backward >= 0 && i > backward &&
                              step.optimizer == scheduler.optimizer &&
                              step.Within(Event::kForward, i, step.end()).empty();
      if (step.step == 0 && !is_between) ++places.before_first;
      if (!is_between) {
        ++places.elsewhere;
        continue;
      }
      if (places.before_step++ == 0) places.first_step = step.step;
      places.last_step = step.step;
    }
  }
  return places;
}

// One scheduler step before the first optimizer step skips a first rate of zero, if the rate rises.
bool Falls(const Schedulers::Scheduler& scheduler) {
  return scheduler.moves.size() >= 2 && scheduler.moves[1].value <= scheduler.moves[0].value;
}

void JudgeOne(const Schedulers& schedulers, const Schedulers::Scheduler& scheduler,
              const StepOrder& order, double enough, Verdict& verdict) {
  const MovePlaces places = PlacesOfMoves(order, scheduler);
  std::string how;
  if (static_cast<double>(places.before_step) >= enough && places.elsewhere == 0) {
    how = StrCat(" stepped between the last backward call and the optimizer step in all ",
                 Counted(places.before_step, "sampled scheduler step"),
                 ": each update used the learning rate of the next step.");
  } else if (places.before_first == 1 && !schedulers.state_loaded && Falls(scheduler)) {
    how = " stepped before the first optimizer step, so its first learning rate was never used.";
  } else {
    return;
  }
  Finding finding =
      FindingAbout(schedulers, scheduler, Severity::kWarning, StrCat(scheduler.name, how),
                   static_cast<double>(places.before_step + places.before_first), 0);
  for (Place& place : PlacesOf(*order.trace, scheduler.site)) finding.places.push_back(place);
  finding.last_step = std::max(finding.first_step, places.last_step);
  verdict.findings.push_back(std::move(finding));
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Schedulers& schedulers,
                              const StepOrder& order) {
  Verdict verdict{.findings = {}, .judged = JudgedSchedulers(schedulers)};
  for (const Schedulers::Scheduler& scheduler : schedulers.schedulers) {
    if (scheduler.optimizer == 0 || scheduler.moves.empty()) continue;
    JudgeOne(schedulers, scheduler, order, settings[kEnoughSteps], verdict);
  }
  return verdict;
}

}  // namespace

Check SteppedBeforeOptimizer() {
  return {
      .id = "schedule/stepped_before_optimizer",
      .title = "scheduler.step() runs before optimizer.step()",
      .promise = "A scheduler steps after the optimizer step that uses its learning rate.",
      .why =
          "Each step uses the learning rate of the next step, and the first learning rate is never "
          "used. The run is not comparable with a run in the right order.",
      .method =
          "Checks the order of calls within sampled steps. Either every scheduler step stands "
          "between the last backward call and the optimizer step. Or one scheduler step precedes "
          "the first optimizer step of the run.",
      .fix = "Call optimizer.step() first and scheduler.step() after it.",
      .limits = {.needs = "A scheduler whose optimizer is known.",
                 .silent_when = "One scheduler step before the first optimizer step raises the "
                                "learning rate, which may skip a learning rate of zero. State was "
                                "loaded. A GradScaler skipped the first optimizer step.",
                 .severity = "",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(loss.backward()
scheduler.step()
optimizer.step()
optimizer.zero_grad())",
                 .good = R"(loss.backward()
optimizer.step()
scheduler.step()
optimizer.zero_grad())"},
      .cpp = {.bad = R"(loss.backward();
scheduler.step();
optimizer.step();
optimizer.zero_grad();)",
              .good = R"(loss.backward();
optimizer.step();
scheduler.step();
optimizer.zero_grad();)"},
      .sources = {"PyTorch documentation: how to adjust learning rate, on the order since 1.1"},
      .covers = {"shifted-schedule"},
      .explains = {"schedule/off_by_one"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kSchedule,
      .settings = {kEnoughSteps},
      .judgement = Reads<&Judge>(),
      .examples =
          {{"after each optimizer step", Expect::kClean, [] { return Scheduled({}); }},
           {"before each optimizer step", Expect::kWarning,
            [] { return Scheduled({.at = MovesAt::kBeforeStep}); }},
           {"between a backward call and the next forward pass, and the optimizer later",
            Expect::kClean,
            [] {
              return Scheduled({.every = 8, .at = MovesAt::kBetweenBatches, .backward_calls = 1});
            }},
           {"at the top of each epoch", Expect::kWarning,
            [] { return Scheduled({.every = 8, .at = MovesAt::kBeforeForward}); }},
           {"the same with a rising learning rate", Expect::kClean,
            [] { return Scheduled({.every = 8, .at = MovesAt::kBeforeForward, .factor = 1.1}); }},
           {"the same after state was loaded", Expect::kClean,
            [] { return Scheduled({.every = 8, .at = MovesAt::kBeforeForward, .loaded = true}); }},
           {"after a skipped first step", Expect::kClean,
            [] { return Scheduled({.skips_first = true}); }}},
  };
}

}  // namespace dlcheck::schedule

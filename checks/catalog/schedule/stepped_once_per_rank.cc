#include <map>

#include "checks/catalog/examples/scheduler_runs.h"
#include "checks/catalog/findings/scheduler_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/whole.h"
#include "checks/signals/run/process_group.h"

namespace dlcheck::schedule {
namespace {

constexpr Setting kSteps{
    .name = "steps",
    .value = 8,
    .low = 2,
    .high = 1e6,
    .unit = "sampled steps",
    .meaning = "fewest optimizer steps followed by scheduler steps, for a finding",
    .source = "own reasoning: all of these steps must agree"};

// Sampled steps after which the scheduler stepped; 0 unless it stepped `moves` times after each.
int64_t StepsWithMoves(const Schedulers::Scheduler& scheduler, int64_t moves) {
  std::map<int64_t, int64_t> counts;
  for (const Occurrence& move : scheduler.moves) ++counts[move.step];
  for (const auto& [step, count] : counts) {
    if (count != moves) return 0;
  }
  return static_cast<int64_t>(counts.size());
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Schedulers& schedulers,
                              const ProcessGroup& group) {
  Verdict verdict{.findings = {}, .judged = JudgedSchedulers(schedulers)};
  for (const Schedulers::Scheduler& scheduler : schedulers.schedulers) {
    const int64_t steps = StepsWithMoves(scheduler, group.processes);
    if (static_cast<double>(steps) < settings[kSteps]) continue;
    const auto made = static_cast<double>(scheduler.fewest);
    const bool is_over = scheduler.horizon > 1 && made > scheduler.horizon + 1;
    if (scheduler.horizon > 1 && !is_over) continue;
    verdict.findings.push_back(FindingAbout(
        schedulers, scheduler, is_over ? Severity::kWarning : Severity::kNote,
        StrCat(scheduler.name, " stepped ", group.processes, " times at each of ",
               Counted(steps, "sampled step"), ", once for each of ", group.processes, " ranks",
               is_over ? StrCat(": ", WithCommas(scheduler.fewest),
                                " scheduler steps, but its length is ",
                                WithCommas(Whole(scheduler.horizon)), ".")
                       : std::string(".")),
        made, scheduler.horizon));
  }
  return verdict;
}

}  // namespace

Check SteppedOncePerRank() {
  return {
      .id = "schedule/stepped_once_per_rank",
      .title = "The scheduler steps once per rank",
      .promise = "The number of ranks does not change how far a schedule advances in a step.",
      .why =
          "The schedule ends after a fraction of the training. The more ranks, the earlier it "
          "ends.",
      .method =
          "Counts the scheduler steps at each sampled step of a run with several ranks. The count "
          "equals the world size, and the total exceeds the schedule's length.",
      .fix =
          "Call scheduler.step() once per optimizer.step(). With Accelerate, do not prepare() a "
          "scheduler whose length is already that of one rank.",
      .limits = {.needs = "Several ranks and eight sampled steps with scheduler steps.",
                 .silent_when = "The scheduler steps stay within the schedule's length, as when "
                                "Accelerate steps a schedule made for the whole data.",
                 .severity = "Warning; note if the schedule's length is not known.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(scheduler = LinearLR(optimizer, total_iters=steps_per_rank)
model, optimizer, scheduler = accelerator.prepare(
    model, optimizer, scheduler)
train(model, optimizer, scheduler)  # world_size scheduler steps per update)",
                 .good = R"(scheduler = LinearLR(optimizer, total_iters=steps_per_rank)
model, optimizer = accelerator.prepare(model, optimizer)
train(model, optimizer, scheduler))"},
      .cpp = {},
      .sources = {"diffusers issue 3954", "Accelerate documentation of AcceleratedScheduler"},
      .covers = {"stepped-once-per-rank"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kSchedule,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"a schedule for the whole data of four ranks", Expect::kClean,
                    [] { return Scheduled({.horizon = 256, .moves = 4, .world_size = "4"}); }},
                   {"a schedule for the data of one rank", Expect::kWarning,
                    [] { return Scheduled({.horizon = 64, .moves = 4, .world_size = "4"}); }},
                   {"one scheduler step per update", Expect::kClean,
                    [] { return Scheduled({.horizon = 64, .world_size = "4"}); }}},
  };
}

}  // namespace dlcheck::schedule

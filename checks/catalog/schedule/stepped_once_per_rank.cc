#include <map>

#include "checks/catalog/scheduler_finding.h"
#include "checks/catalog/scheduler_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/whole.h"
#include "checks/signals/process_group.h"

namespace dlcheck::schedule {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 8,
                         .low = 2,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest steps with moves after them that a finding rests on",
                         .source = "own reasoning: all of them have to agree"};

// Sampled steps after which the scheduler moved; 0 if not as often as `moves` after each.
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
        StrCat(scheduler.name, " moved ", group.processes, " times at each of ",
               Counted(steps, "sampled step"), ", once for each of the ", group.processes,
               " processes",
               is_over ? StrCat(": ", WithCommas(scheduler.fewest), " moves, where it is made for ",
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
      .promise = "The number of processes does not change how far a schedule moves in a step.",
      .why =
          "The schedule is over after a fraction of the training, the smaller the more processes.",
      .method =
          "How often the scheduler moved at each sampled step of a run of several processes: as "
          "often as there are processes, and beyond the moves that it is made for.",
      .fix =
          "Step the scheduler once for each optimizer.step(); with Accelerate, do not prepare() a "
          "scheduler whose horizon is already that of one process.",
      .limits =
          "Silent if the moves stay within what the scheduler is made for, as Accelerate moves a "
          "schedule for the whole data. A note where that is not known.",
      .sources = {"diffusers issue 3954", "Accelerate documentation of AcceleratedScheduler"},
      .covers = {"S02"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kSchedule,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"moves for the whole data of four processes", Expect::kClean,
                    [] { return Scheduled({.horizon = 256, .moves = 4, .world_size = "4"}); }},
                   {"moves for the data of one", Expect::kFaulty,
                    [] { return Scheduled({.horizon = 64, .moves = 4, .world_size = "4"}); }},
                   {"one move a step", Expect::kClean,
                    [] { return Scheduled({.horizon = 64, .world_size = "4"}); }}},
  };
}

}  // namespace dlcheck::schedule

#include <algorithm>

#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/examples/rank_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/distributed/rank_times.h"

namespace dlcheck::distributed {
namespace {

constexpr Setting kSteps{
    .name = "steps",
    .value = 32,
    .low = 4,
    .high = 1e6,
    .unit = "steps",
    .meaning = "fewest timed steps for a finding",
    .source = "own reasoning: a rank that is late by chance is not late in most steps"};
constexpr Setting kRatio{
    .name = "ratio",
    .value = 1.5,
    .low = 1,
    .high = 100,
    .unit = "1",
    .meaning = "smallest ratio of the slowest rank's time to the second slowest's",
    .source = "measured: at most 1.2 for equal ranks, four on two cores"};
constexpr Setting kExcess{.name = "excess",
                          .value = 0.2,
                          .low = 0,
                          .high = 1,
                          .unit = "of a step's time",
                          .meaning = "smallest share of a step that all others wait",
                          .source = "own reasoning: a shorter wait is not worth a change"};
constexpr Setting kOften{.name = "often",
                         .value = 0.8,
                         .low = 0,
                         .high = 1,
                         .unit = "of the steps",
                         .meaning = "smallest share of steps in which the rank is the slowest",
                         .source = "own reasoning: chance picks a different rank each time"};

double SlowestOther(const RankTimes::Group& group) {
  double slowest = 0;
  for (const auto& [rank, median] : group.medians) {
    if (rank != group.slowest) slowest = std::max(slowest, median);
  }
  return slowest;
}

std::string Batches(const RankTimes& times, uint16_t rank) {
  const auto own = times.batches.find(rank);
  const auto other = std::ranges::find_if(
      times.batches, [rank](const auto& entry) { return entry.first != rank; });
  if (own == times.batches.end() || other == times.batches.end()) return "";
  if (own->second == 0 || own->second == other->second) return "";
  return StrCat(" Batches hold ", own->second, " samples on rank ", rank, " and ", other->second,
                " on rank ", other->first, ".");
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const RankTimes& times) {
  Verdict verdict;
  int64_t steps = 0;
  for (const RankTimes::Group& group : times.groups) {
    if (static_cast<double>(group.steps) < settings[kSteps]) continue;
    steps += group.steps;
    const double slowest = group.medians.at(group.slowest), other = SlowestOther(group);
    const bool is_usual =
        static_cast<double>(group.behind) >= settings[kOften] * static_cast<double>(group.steps);
    if (!is_usual || slowest < settings[kRatio] * other ||
        slowest - other < settings[kExcess] * group.step) {
      continue;
    }
    verdict.findings.push_back(
        {.severity = Severity::kWarning,
         .message = StrCat(
             "Rank ", group.slowest, " is the straggler: it took ", Short(1000 * slowest),
             " ms before gradient synchronization (others at most ", Short(1000 * other),
             " ms, step ", Short(1000 * group.step), " ms) and was the slowest in ", group.behind,
             " of ", Counted(group.steps, "step"), ".", Batches(times, group.slowest)),
         .places = {{.thing = "", .rank = group.slowest, .file = ""}},
         .first_step = 0,
         .last_step = 0,
         .count = group.behind,
         .measured = slowest / other,
         .bound = settings[kRatio]});
  }
  if (steps == 0) {
    return absl::NotFoundError(StrCat("fewer than ", settings[kSteps],
                                      " steps were timed on all ranks of a process group"));
  }
  verdict.judged = Counted(steps, "step");
  return verdict;
}

// Milliseconds of the second rank before gradient synchronization; the first rank takes 10 of 15.
Evidence Taking(double usual, double seldom) {
  return PlainOnly(OfRanks({.steps = 48, .step = [=](uint16_t rank, int step) {
                              const double second = step % 4 == 0 ? seldom : usual;
                              return RankStep{.own_time = (rank == 0 ? 10 : second) / 1000,
                                              .step_time = 0.015};
                            }}));
}

}  // namespace

Check Straggler() {
  return {
      .id = "distributed/straggler",
      .title = "One rank is slower than all others",
      .promise = "Ranks that wait for each other are about equally fast.",
      .why =
          "All ranks run at the pace of the slowest, and the other devices are unused while they "
          "wait.",
      .method =
          "Measures the time from the end of a step to the next first backward call. In this time "
          "no rank waits for gradients. Compares medians over sampled steps across the process "
          "group.",
      .fix =
          "Look for work that only this rank does: loading, logging, longer or more samples. "
          "Balance the work across ranks, for example by sorting by length before sharding, or "
          "check the machine.",
      .limits =
          {.needs = "At least 32 timed steps on all ranks of a process group.",
           .silent_when =
               "A forward pass broadcasts buffers, or the program calls collectives before "
               "backward in most steps. Each rank then waits for the others before backward too.",
           .severity = "",
           .blind_spots = "Slow work between backward and the step is not measured. Load from "
                          "other programs on the machine also slows a rank; run again to confirm.",
           .sensitivity = ""},
      .python = {.bad = R"(for step, (x, y) in enumerate(loader):
    train_step(model, optimizer, x, y)
    if dist.get_rank() == 0:
        log_histograms(model))",
                 .good = R"(for step, (x, y) in enumerate(loader):
    train_step(model, optimizer, x, y)
    if dist.get_rank() == 0 and step % 1000 == 0:
        log_histograms(model))"},
      .cpp = {},
      .sources = {"NVIDIA resiliency extension: relative performance scores of ranks"},
      .covers = {"slow-rank"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = {},
      .settings = {kSteps, kRatio, kExcess, kOften},
      .judgement = Reads<&Judge>(),
      .examples = {{"10 and 12 ms", Expect::kClean, [] { return Taking(12, 12); }},
                   {"10 and 18 ms", Expect::kWarning, [] { return Taking(18, 18); }},
                   {"18 ms in one of four steps", Expect::kClean, [] { return Taking(9, 18); }}},
  };
}

}  // namespace dlcheck::distributed

#include <algorithm>

#include "checks/catalog/example_runs.h"
#include "checks/catalog/rank_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/rank_times.h"

namespace dlcheck::distributed {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 32,
                         .low = 4,
                         .high = 1e6,
                         .unit = "steps",
                         .meaning = "fewest timed steps that a finding rests on",
                         .source = "own reasoning: one that is late by chance is not in most"};
constexpr Setting kRatio{.name = "ratio",
                         .value = 1.5,
                         .low = 1,
                         .high = 100,
                         .unit = "1",
                         .meaning = "time of the slowest over that of the slowest of the others",
                         .source = "measured: at most 1.2 of equal processes, four on two cores"};
constexpr Setting kExcess{.name = "excess",
                          .value = 0.2,
                          .low = 0,
                          .high = 1,
                          .unit = "of a step's time",
                          .meaning = "that all others wait for it, from which on it counts",
                          .source = "own reasoning: less is not worth a change"};
constexpr Setting kOften{.name = "often",
                         .value = 0.8,
                         .low = 0,
                         .high = 1,
                         .unit = "of the steps",
                         .meaning = "in which it is the slowest",
                         .source = "own reasoning: chance picks another each time"};

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
  return StrCat(" Its batches hold ", own->second, " samples, those of rank ", other->first, " ",
                other->second, ".");
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
         .message = StrCat("The others wait for rank ", group.slowest, ": before gradients are ",
                           "shared it needs ", Short(1000 * slowest), " ms of a step of ",
                           Short(1000 * group.step), " ms, no other more than ",
                           Short(1000 * other), " ms; it was the slowest in ", group.behind, " of ",
                           Counted(group.steps, "step"), ".", Batches(times, group.slowest)),
         .places = {{.thing = "", .rank = group.slowest, .file = ""}},
         .first_step = 0,
         .last_step = 0,
         .count = group.behind,
         .measured = slowest / other,
         .bound = settings[kRatio]});
  }
  if (steps == 0) {
    return absl::NotFoundError(
        StrCat("fewer than ", settings[kSteps], " steps of all processes of a group were timed"));
  }
  verdict.judged = Counted(steps, "step");
  return verdict;
}

// Milliseconds of the second process before gradients are shared; of the first, 10 of a step of 15.
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
      .promise = "Processes that wait for each other are about equally fast.",
      .why = "All of them go at the pace of the slowest; the others' hardware stands idle.",
      .method =
          "Time from the end of a step to the first backward call of the next, in which no process "
          "waits for gradients of another: medians over sampled steps, compared between the "
          "processes of a group.",
      .fix =
          "Look at what this process does alone: loading, logging, longer samples, more samples; "
          "give all the same amount of work, sort by length before dealing, or look at the "
          "machine.",
      .limits =
          "Silent where a forward pass sends buffers, or the program calls operations of all "
          "processes before backward in most steps: there each waits for the others before "
          "backward, too. What is "
          "slow between backward and the step is not seen. Times of one machine under other load "
          "are "
          "no evidence: run it again.",
      .sources = {"NVIDIA resiliency extension: relative performance scores of ranks"},
      .covers = {"DST-04"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = {},
      .settings = {kSteps, kRatio, kExcess, kOften},
      .judgement = Reads<&Judge>(),
      .examples = {{"10 and 12 ms", Expect::kClean, [] { return Taking(12, 12); }},
                   {"10 and 18 ms", Expect::kFaulty, [] { return Taking(18, 18); }},
                   {"18 ms in one of four steps", Expect::kClean, [] { return Taking(9, 18); }}},
  };
}

}  // namespace dlcheck::distributed

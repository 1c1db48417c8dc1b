#include <algorithm>

#include "checks/catalog/example_runs.h"
#include "checks/catalog/rank_runs.h"
#include "checks/catalog/rank_steps_verdict.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::distributed {
namespace {

// All made as many backward calls and ended by themselves, and some left out steps of an optimizer.
void JudgeGroup(const RankSteps::Group& group, const Trace& trace, Verdict& verdict) {
  const auto& [first_rank, first] = *group.processes.begin();
  for (const ThingId optimizer : group.optimizers) {
    const auto of = [id = optimizer](const auto& entry) {
      const auto found = entry.second.taken.find(id);
      return found == entry.second.taken.end() ? 0 : found->second;
    };
    const bool are_comparable = std::ranges::all_of(group.processes, [&](const auto& entry) {
      return entry.second.ended == "finished" && of(entry) > 0 &&
             entry.second.backwards == first.backwards;
    });
    const auto [least, most] = std::ranges::minmax_element(group.processes, {}, of);
    if (!are_comparable || of(*least) == of(*most)) continue;
    const std::string name = trace.Display(optimizer);
    verdict.findings.push_back(
        {.severity = Severity::kError,
         .message =
             StrCat("Rank ", least->first, " took ", Counted(of(*least), "step"), " of ", name,
                    ", rank ", most->first, " took ", of(*most),
                    ", after as many backward calls: it left out ", of(*most) - of(*least), "."),
         .places = {{.thing = name, .rank = least->first, .file = ""}},
         .first_step = 0,
         .last_step = of(*most),
         .count = of(*most) - of(*least),
         .measured = static_cast<double>(of(*least)),
         .bound = static_cast<double>(of(*most))});
  }
}

absl::StatusOr<Verdict> Judge(const Settings&, const RankSteps& steps) {
  return OfEachGroup(steps, [&](const RankSteps::Group& group, Verdict& verdict) {
    JudgeGroup(group, *steps.trace, verdict);
  });
}

// The second process makes no step after its sixth backward call; it may make a backward call less.
Evidence LeavingOut(bool step, bool backward) {
  RunBuilder run = OfRanks({.step = [=](uint16_t rank, int number) {
    const bool is_odd = rank == 1 && number == 5;
    return RankStep{.makes_backward = !(is_odd && backward), .makes_step = !(is_odd && step)};
  }});
  for (const char* rank : {"0", "1"}) run.Attribute("process", rank, "ended", "finished");
  return PlainOnly(run);
}

}  // namespace

Check StepSkippedOnOneRank() {
  return {
      .id = "distributed/step_skipped_on_one_rank",
      .promise = "Replicas take their optimizer's steps together.",
      .why =
          "A process that leaves a step out which the others take trains another model from then "
          "on, although it goes on to share gradients with them.",
      .method =
          "Steps of each optimizer that moved weights, by process, where all of a group made "
          "equally many backward calls and ended by themselves.",
      .fix =
          "Decide together whether to leave a step out: by the gradients as they are after they "
          "were shared, or by all_reduce of what each process decides by, as a loss, a norm or a "
          "flag of numbers that are not finite.",
      .limits =
          "Counts over the whole run: which step was left out is not known. Silent where several "
          "optimizers make more steps than are recorded, where processes "
          "made different numbers of backward calls, as where one trains something beside, where "
          "one did not end by itself, and where the program uses join().",
      .sources = {"PyTorch: GradScaler, whose flag each process works out for itself",
                  "own reasoning: equal weights stay equal by equal steps"},
      .covers = {"X07", "X13"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"equally many", Expect::kClean, [] { return LeavingOut(false, false); }},
                   {"one fewer", Expect::kFaulty, [] { return LeavingOut(true, false); }},
                   {"one fewer, and a backward call", Expect::kClean,
                    [] { return LeavingOut(true, true); }}},
  };
}

}  // namespace dlcheck::distributed

#include <algorithm>

#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/examples/rank_runs.h"
#include "checks/catalog/findings/rank_steps_verdict.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::distributed {
namespace {

// All ranks made as many backward calls and ended normally, and some skipped steps of an optimizer.
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
         .message = StrCat("Rank ", least->first, " took ", Counted(of(*least), "step"), " of ",
                           name, ", rank ", most->first, " took ", of(*most),
                           ", after equal numbers of backward calls. Rank ", least->first,
                           " skipped ", of(*most) - of(*least), "."),
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

// The second rank makes no step after its sixth backward call; it may make one backward call less.
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
      .title = "One rank skips optimizer steps",
      .promise = "Replicas on all ranks take the same optimizer steps.",
      .why =
          "A rank that skips a step trains a different model from then on, although gradients are "
          "still synchronized.",
      .method =
          "Compares the number of effective steps of each optimizer across ranks. All ranks of the "
          "process group made the same number of backward calls and ended normally.",
      .fix =
          "Decide together whether to skip a step. Test the synchronized gradients, or all_reduce "
          "the loss, norm or non-finite flag that each rank decides by.",
      .limits = {.needs = "Two ranks that end normally with the same number of backward calls.",
                 .silent_when = "Several optimizers make more steps than are recorded. Ranks made "
                                "different numbers of backward calls, as when one trains an extra "
                                "part. One rank did not end normally. The program uses join().",
                 .severity = "",
                 .blind_spots =
                     "Counts cover the whole run, so the skipped step is not identified.",
                 .sensitivity = ""},
      .python = {.bad = R"(loss.backward()
if torch.isfinite(loss):
    optimizer.step()
optimizer.zero_grad())",
                 .good = R"(loss.backward()
finite = torch.isfinite(loss.detach()).float()
dist.all_reduce(finite, op=dist.ReduceOp.MIN)
if finite:
    optimizer.step()
optimizer.zero_grad())"},
      .cpp = {},
      .sources = {"PyTorch: GradScaler, whose flag each rank computes separately",
                  "own reasoning: equal weights stay equal by equal steps"},
      .covers = {"unequal-step-counts", "hidden-unused-parameters"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"equal numbers of steps", Expect::kClean,
                    [] { return LeavingOut(false, false); }},
                   {"one step fewer", Expect::kError, [] { return LeavingOut(true, false); }},
                   {"one step and one backward call fewer", Expect::kClean,
                    [] { return LeavingOut(true, true); }}},
  };
}

}  // namespace dlcheck::distributed

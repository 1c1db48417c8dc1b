#include <algorithm>

#include "checks/catalog/example_runs.h"
#include "checks/catalog/rank_runs.h"
#include "checks/catalog/rank_steps_verdict.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::distributed {
namespace {

using Process = RankSteps::Process;

Place PlaceOf(uint16_t rank, const Process& process, const Trace& trace) {
  const NamedSite& site = trace.site(process.last_backward);
  return {.thing = "", .rank = rank, .file = site.file, .line = site.line};
}

// It went no further by itself, where the other did.
bool Left(const Process& process, const Process& other) {
  if (process.in_a_step || process.backwards >= other.backwards) return false;
  if (!other.in_a_step && other.ended == "finished") return false;  // nobody waited
  return process.ended == "finished" ||
         (process.ended.empty() && process.evaluations > other.evaluations);
}

std::string MessageFor(uint16_t rank, const Process& process, uint16_t other_rank,
                       const Process& other) {
  return StrCat(
      "Rank ", rank,
      process.ended == "finished" ? " ended" : " left its training loop for an evaluation",
      " after ", Counted(process.backwards, "backward call"), ", rank ", other_rank, " began ",
      Counted(other.backwards, "backward call"),
      ", the last of which waits for gradients that nobody sends.");
}

// The process that left after fewest backward calls, against the one that went on furthest.
void JudgeGroup(const RankSteps::Group& group, const Trace& trace, Verdict& verdict) {
  const auto backwards = [](const auto& entry) { return entry.second.backwards; };
  const auto& [other_rank, other] = *std::ranges::max_element(group.processes, {}, backwards);
  const auto& [rank, process] = *std::ranges::min_element(group.processes, {}, backwards);
  if (!Left(process, other)) return;
  verdict.findings.push_back(
      {.severity = Severity::kError,
       .message = MessageFor(rank, process, other_rank, other),
       .places = {PlaceOf(rank, process, trace), PlaceOf(other_rank, other, trace)},
       .first_step = process.steps,
       .last_step = other.steps,
       .count = other.backwards - process.backwards,
       .measured = static_cast<double>(other.backwards),
       .bound = static_cast<double>(process.backwards)});
}

absl::StatusOr<Verdict> Judge(const Settings&, const RankSteps& steps) {
  return OfEachGroup(steps, [&](const RankSteps::Group& group, Verdict& verdict) {
    JudgeGroup(group, *steps.trace, verdict);
  });
}

// The second process makes `steps` of eight and ends so; the first begins another if `waits`.
Evidence Ending(int steps, std::string_view ended, bool waits, bool evaluates = false) {
  RunBuilder run = TwoLayers();
  for (uint16_t rank = 0; rank < 2; ++rank) {
    run.Rank(rank).Owner(kReplicas, "0-1");
    for (int step = 0; step < (rank == 0 ? 8 : steps); ++step) {
      run.Event(Event::kBackward, 0, "loss", "cross_entropy");
      run.Quantity(Quantity::kGradientNorm, "parameter", "trunk.weight", 0.1);
      run.Quantity(Quantity::kGradientNorm, "parameter", "head.weight", 0.1);
      run.Event(Event::kStep, 0, "optimizer", "optimizer#0");
    }
    if (rank == 1 && evaluates) run.Event(Event::kEvaluationBegan);
    if (rank == 0 && waits) run.Event(Event::kBackward, 0, "loss", "cross_entropy");
  }
  run.Attribute("process", "0", "ended", waits ? "RuntimeError" : "finished");
  run.Attribute("process", "1", "ended", ended);
  return PlainOnly(run);
}

}  // namespace

Check UnevenInputs() {
  return {
      .id = "distributed/uneven_inputs",
      .promise = "Processes that share gradients make the same number of steps.",
      .why =
          "Who makes one more waits for gradients that nobody sends, until the time of the "
          "operation is over or the connection breaks.",
      .method =
          "Backward calls of each process of a group, and how it ended: one ended by itself, or "
          "began an evaluation that others had not, while another had begun more.",
      .fix =
          "Give all processes equally many batches: drop_last=True in the DistributedSampler or "
          "the DataLoader, an IterableDataset that ends everywhere at once; or put the loop into "
          "DistributedDataParallel.join(). Let processes decide together whether to stop "
          "early, by all_reduce of what they decide by.",
      .limits =
          "Silent where the program uses join(), where all ended by themselves after different "
          "numbers of backward calls, and where the process that made fewer ended by an exception, "
          "which is then the cause.",
      .sources = {"PyTorch: distributed training with uneven inputs",
                  "own reasoning: an operation of all processes needs all of them"},
      .covers = {"X07"},
      .explains = {"program/failed"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = {},
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"equally many", Expect::kClean, [] { return Ending(8, "finished", false); }},
                   {"one fewer, the other waits", Expect::kFaulty,
                    [] { return Ending(8, "finished", true); }},
                   {"one fewer and on to an evaluation, the other waits", Expect::kFaulty,
                    [] { return Ending(8, "", true, true); }},
                   {"one fewer, as where the run was ended in the middle", Expect::kClean,
                    [] { return Ending(8, "", true); }},
                   {"fewer, and all ended, as where one trains something beside", Expect::kClean,
                    [] { return Ending(5, "finished", false); }},
                   {"fewer after an exception", Expect::kClean,
                    [] { return Ending(5, "ValueError", true); }}},
  };
}

}  // namespace dlcheck::distributed

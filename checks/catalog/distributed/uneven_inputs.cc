#include <algorithm>

#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/examples/rank_runs.h"
#include "checks/catalog/findings/rank_steps_verdict.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::distributed {
namespace {

using Process = RankSteps::Process;

Place PlaceOf(uint16_t rank, const Process& process, const Trace& trace) {
  const NamedSite& site = trace.site(process.last_backward);
  return {.thing = "", .rank = rank, .file = site.file, .line = site.line};
}

// This rank stopped by itself while the other continued.
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
      " after ", Counted(process.backwards, "backward call"), ", but rank ", other_rank,
      " started ", Counted(other.backwards, "backward call"),
      ". The last one waits for gradients that no rank sends.");
}

// The rank with the fewest backward calls against the rank with the most.
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

// The second rank makes `steps` of eight steps and ends as `ended`; the first starts another if
// `waits`.
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
      .title = "Ranks make different numbers of steps",
      .promise = "Ranks that synchronize gradients make the same number of steps.",
      .why =
          "A rank with one more step waits for gradients that no other rank sends. The collective "
          "times out or the connection breaks.",
      .method =
          "Compares the backward calls and the ending of each rank. One rank ended normally or "
          "started an evaluation that others had not, while another rank had started more backward "
          "calls.",
      .fix =
          "Give all ranks the same number of batches: drop_last=True in the DistributedSampler or "
          "DataLoader, or an equally long IterableDataset. Or wrap the loop in model.join(). "
          "Decide about early stopping with an all_reduce.",
      .limits = {.needs = "Two ranks that synchronize gradients.",
                 .silent_when = "The program uses join(). All ranks ended normally after different "
                                "numbers of backward calls. The rank with fewer backward calls "
                                "ended by an exception, which is then the cause.",
                 .severity = "",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(loader = DataLoader(shard_of(rank), batch_size=64)  # unequal lengths
for x, y in loader:
    loss = criterion(ddp_model(x), y)
    loss.backward()
    optimizer.step())",
                 .good = R"(loader = DataLoader(shard_of(rank), batch_size=64)
with ddp_model.join():
    for x, y in loader:
        loss = criterion(ddp_model(x), y)
        loss.backward()
        optimizer.step())"},
      .cpp = {},
      .sources = {"PyTorch: distributed training with uneven inputs",
                  "own reasoning: a collective needs all ranks"},
      .covers = {"unequal-step-counts"},
      .explains = {"program/failed"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = {},
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"equal numbers of steps", Expect::kClean,
                    [] { return Ending(8, "finished", false); }},
                   {"one step fewer, and the other rank waits", Expect::kError,
                    [] { return Ending(8, "finished", true); }},
                   {"one step fewer and then an evaluation, and the other rank waits",
                    Expect::kError, [] { return Ending(8, "", true, true); }},
                   {"one step fewer, as in an interrupted run", Expect::kClean,
                    [] { return Ending(8, "", true); }},
                   {"fewer steps, and all ranks ended", Expect::kClean,
                    [] { return Ending(5, "finished", false); }},
                   {"fewer steps after an exception", Expect::kClean,
                    [] { return Ending(5, "ValueError", true); }}},
  };
}

}  // namespace dlcheck::distributed

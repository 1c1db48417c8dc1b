#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/engine/whole.h"
#include "checks/signals/padded_evaluations.h"

namespace dlcheck::distributed {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const PaddedEvaluations& evaluations) {
  Verdict verdict{.findings = {}, .judged = ""};
  for (const PaddedEvaluations::Loader& loader : evaluations.loaders) {
    if (loader.padding <= 0 || loader.samples <= 0) continue;
    const double share = loader.padding / loader.samples;
    verdict.findings.push_back(
        {.severity = Severity::kNote,
         .message = StrCat("Evaluations repeat ", loader.padding, " of ", loader.samples,
                           " samples, so that all processes have equally many: what is averaged "
                           "over processes counts them twice."),
         .places = {{.thing = "loader", .file = ""}},
         .first_step = loader.first_step,
         .last_step = loader.last_step,
         .count = Whole(loader.padding),
         .measured = share,
         .bound = 0});
  }
  verdict.judged = Counted(static_cast<int64_t>(evaluations.loaders.size()), "loader");
  return verdict;
}

Evidence Dealt(std::string_view padding) {
  RunBuilder run = TwoLayers();
  run.Attribute("loader", "", "samples", "101").Attribute("loader", "", "dealt_to", "2");
  run.Attribute("loader", "", "padding", padding);
  for (uint16_t rank = 0; rank < 2; ++rank) {
    run.Rank(rank);
    AddStep(run, {});
    run.Event(Event::kEvaluationBegan, 0, "model", "Net");
    run.Event(Event::kFetched, 0, "loader", "", 32);
    run.Event(Event::kEvaluationForward, 0, "model", "Net");
    run.Event(Event::kEvaluationEnded, 0, "model", "Net");
  }
  return PlainOnly(run);
}

}  // namespace

Check DuplicatedEvalSamples() {
  return {
      .id = "distributed/duplicated_eval_samples",
      .promise = "An evaluation counts each sample once, however many processes share it.",
      .why =
          "The measure depends on the number of processes, and is not that of the data: the "
          "repeated "
          "samples count twice.",
      .method =
          "Loaders whose DistributedSampler repeats samples to give all processes equally many, "
          "and "
          "from which evaluations take their batches.",
      .fix =
          "Evaluate on one process, give each the samples rank, rank + world, ... without repeats "
          "and add up sums and counts, or leave out what was repeated, as gather_for_metrics of "
          "Accelerate does.",
      .limits =
          "Always a note: a program that gathers all answers and leaves the repeated ones out "
          "afterwards looks the same. Loaders of which one batch is taken may be missed.",
      .sources = {"PyTorch: DistributedSampler adds samples to make its parts even"},
      .covers = {"E02"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kEvaluationBegan,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"no sample is repeated", Expect::kClean, [] { return Dealt("0"); }},
                   {"one of 101", Expect::kFaulty, [] { return Dealt("1"); }},
                   {"three of 101", Expect::kFaulty, [] { return Dealt("3"); }}},
  };
}

}  // namespace dlcheck::distributed

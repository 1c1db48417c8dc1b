#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/engine/whole.h"
#include "checks/signals/distributed/padded_evaluations.h"

namespace dlcheck::distributed {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const PaddedEvaluations& evaluations) {
  Verdict verdict{.findings = {}, .judged = ""};
  for (const PaddedEvaluations::Loader& loader : evaluations.loaders) {
    if (loader.padding <= 0 || loader.samples <= 0) continue;
    const double share = loader.padding / loader.samples;
    verdict.findings.push_back(
        {.severity = Severity::kNote,
         .message = StrCat("Evaluations repeated ", loader.padding, " of ", loader.samples,
                           " samples to give every rank the same number, so metrics averaged over "
                           "ranks count these samples twice."),
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
      .title = "DistributedSampler repeats evaluation samples",
      .promise = "An evaluation counts each sample once, for every number of ranks.",
      .why =
          "The metric depends on the world size and is wrong for the data set, because the "
          "repeated samples count twice.",
      .method =
          "Finds loaders that evaluations read from and whose DistributedSampler repeats samples "
          "to give every rank the same number.",
      .fix =
          "Evaluate on one rank, or shard without padding (samples rank, rank + world_size, ...) "
          "and all-reduce sums and counts. Or drop the repeated samples, as gather_for_metrics() "
          "of Accelerate does.",
      .limits = {.needs = "A DistributedSampler in an evaluation.",
                 .silent_when = "",
                 .severity = "Always a note: a program that gathers all predictions and then drops "
                             "the repeated ones looks the same.",
                 .blind_spots = "Loaders of which only one batch is read may be missed.",
                 .sensitivity = ""},
      .python =
          {.bad = R"(sampler = DistributedSampler(val_set, shuffle=False)  # pads the last samples
loader = DataLoader(val_set, batch_size=64, sampler=sampler)
correct = evaluate(model, loader)
dist.all_reduce(correct))",
           .good = R"(indices = range(dist.get_rank(), len(val_set), dist.get_world_size())
loader = DataLoader(Subset(val_set, indices), batch_size=64)
correct = evaluate(model, loader)
dist.all_reduce(correct))"},
      .cpp = {},
      .sources = {"PyTorch: DistributedSampler adds samples to make its parts even"},
      .covers = {"partial-or-duplicated-evaluation"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kEvaluationBegan,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"no sample is repeated", Expect::kClean, [] { return Dealt("0"); }},
                   {"one of 101 samples is repeated", Expect::kNote, [] { return Dealt("1"); }},
                   {"three of 101 samples are repeated", Expect::kNote, [] { return Dealt("3"); }}},
  };
}

}  // namespace dlcheck::distributed

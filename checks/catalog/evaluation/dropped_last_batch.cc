#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/engine/whole.h"
#include "checks/records/sampling.h"
#include "checks/signals/evaluation/evaluation_passes.h"

namespace dlcheck::evaluation {
namespace {

using Loader = EvaluationPasses::Loader;
using Pass = EvaluationPasses::Pass;

// All batches came from one loader, one by one, and are known. A single one may have come from
// nowhere, after a batch of training.
bool IsJudged(const Pass& pass, const Loader& loader) {
  return pass.loaders.size() == 1 && pass.batches > 1 && pass.fed == pass.batches &&
         pass.batches < kMostEvaluationBatches && !loader.is_sharded && loader.batch_size > 0 &&
         loader.samples > loader.batch_size;
}

// All full batches of the data set, and nothing more.
bool LeavesRestOut(const Pass& pass, const Loader& loader) {
  const double full = std::floor(loader.samples / loader.batch_size);
  return full * loader.batch_size < loader.samples && static_cast<double>(pass.batches) == full &&
         pass.handed_out == full * loader.batch_size;
}

absl::StatusOr<Verdict> Judge(const Settings&, const EvaluationPasses& evaluations) {
  struct Seen {
    int64_t judged = 0, wrong = 0, first_step = 0, last_step = 0;
  };
  std::map<ThingId, Seen> seen;
  int64_t judged = 0;
  for (const Pass& pass : evaluations.passes) {
    if (pass.loaders.empty()) continue;
    const auto found = evaluations.loaders.find(*pass.loaders.begin());
    if (found == evaluations.loaders.end() || !IsJudged(pass, found->second)) continue;
    ++judged;
    Seen& of = seen[found->first];
    ++of.judged;
    if (!LeavesRestOut(pass, found->second)) continue;
    if (of.wrong++ == 0) of.first_step = pass.step;
    of.last_step = pass.step;
  }
  if (judged == 0) {
    return absl::NotFoundError("no evaluation was seen on one loader of known length");
  }
  Verdict verdict{.findings = {}, .judged = Counted(judged, "evaluation")};
  for (const auto& [id, of] : seen) {
    if (of.wrong == 0 || of.wrong < of.judged) continue;
    const Loader& loader = evaluations.loaders.at(id);
    const double left = std::fmod(loader.samples, loader.batch_size);
    verdict.findings.push_back(
        {.severity = Severity::kNote,
         .message = StrCat("An evaluation left out the last ", WithCommas(Whole(left)), " of ",
                           WithCommas(Whole(loader.samples)),
                           " samples: its loader handed out full batches of ",
                           WithCommas(Whole(loader.batch_size)), " samples only."),
         .places = {{.thing = loader.name, .file = ""}},
         .first_step = of.first_step,
         .last_step = of.last_step,
         .count = of.wrong,
         .measured = left,
         .bound = 0});
  }
  return verdict;
}

// Two evaluations of 100 samples in batches of 32.
Evidence With(int batches) {
  RunBuilder run = TwoLayers();
  run.Attribute("loader", "held out", "samples", "100");
  run.Attribute("loader", "held out", "batch_size", "32");
  for (int evaluation = 0; evaluation < 2; ++evaluation) {
    AddStep(run, {.held = {}});
    run.Event(Event::kEvaluationBegan, 0, "model", "Net");
    for (int batch = 0; batch < batches; ++batch) {
      run.Event(Event::kFetched, batch, "loader", "held out", batch < 3 ? 32 : 4);
      run.Event(Event::kEvaluationForward, 0, "model", "Net");
    }
    run.Event(Event::kEvaluationEnded, 0, "model", "Net");
  }
  return PlainOnly(run);
}

}  // namespace

Check DroppedLastBatch() {
  return {
      .id = "evaluation/dropped_last_batch",
      .title = "An evaluation leaves out its last batch",
      .promise = "An evaluation that takes all full batches of a data set also takes the rest.",
      .why =
          "The samples of the last, smaller batch are never scored. The metric belongs to a part "
          "of the data set, and changes with the batch size.",
      .method =
          "Compares the batches of an evaluation with the number of samples and the batch size of "
          "its loader. All full batches must be evaluated, and the rest must be missing each time.",
      .fix = "Remove drop_last=True from the DataLoader of the evaluation.",
      .limits = {.needs = "An evaluation on a DataLoader whose data set has a known length.",
                 .silent_when = "An evaluation takes fewer batches, only one, or more than 63.",
                 .severity = "Always a note, because a program may need batches of one size.",
                 .blind_spots = "Data sharded across ranks, and batches that the program draws by "
                                "itself.",
                 .sensitivity = ""},
      .python = {.bad = R"(def loader_of(data, train):
    return DataLoader(data, 64, shuffle=train, drop_last=True)

accuracy = evaluate(model, loader_of(test_data, train=False)))",
                 .good = R"(def loader_of(data, train):
    return DataLoader(data, 64, shuffle=train, drop_last=train)

accuracy = evaluate(model, loader_of(test_data, train=False)))"},
      .cpp = {.bad = R"(auto test_loader = torch::data::make_data_loader(
    test_data, torch::data::DataLoaderOptions(64).drop_last(true));)",
              .good = R"(auto test_loader = torch::data::make_data_loader(
    test_data, torch::data::DataLoaderOptions(64));)"},
      .sources = {"PyTorch documentation: drop_last of DataLoader"},
      .covers = {"evaluation-without-last-batch"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kFetched,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"three batches and the rest", Expect::kClean, [] { return With(4); }},
                   {"three batches without the rest", Expect::kNote, [] { return With(3); }},
                   {"two batches", Expect::kClean, [] { return With(2); }}},
  };
}

}  // namespace dlcheck::evaluation

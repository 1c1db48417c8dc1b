#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/engine/whole.h"
#include "checks/signals/checkpoint/loaded_models.h"

namespace dlcheck::checkpoint {
namespace {

constexpr Setting kShare{.name = "share",
                         .value = 0.5,
                         .low = 0,
                         .high = 1,
                         .unit = "1",
                         .meaning = "share of loaded tensors that may change before the first step",
                         .source = "own reasoning: a new head has few tensors"};

// Weights from a file are wanted. Weights from another model may be mutated on purpose, a mask may
// change half of them, and a conversion to another dtype changes all.
Severity SeverityOf(const LoadedModels& models, const LoadedModels::Kept& kept) {
  if (!models.from_file || kept.overwritten < 0.75) return Severity::kNote;
  return kept.overwritten < 1 || kept.converted ? Severity::kWarning : Severity::kError;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const LoadedModels& models) {
  if (models.kept.empty()) {
    return absl::NotFoundError("no loaded model was compared at the start of training");
  }
  Verdict verdict;
  double compared = 0;
  for (const LoadedModels::Kept& kept : models.kept) {
    compared += kept.compared;
    if (kept.compared < 2 || kept.overwritten < settings[kShare]) continue;
    verdict.findings.push_back(
        {.severity = SeverityOf(models, kept),
         .message = StrCat(
             kept.overwritten >= 1 ? std::string("All") : Short(100 * kept.overwritten) + " %",
             " of ", Counted(Whole(kept.compared), "tensor"), " loaded into ", kept.model,
             " had changed by the first step, although nothing was trained before."),
         .places = {{.thing = kept.model, .file = ""}},
         .first_step = kept.step,
         .last_step = kept.step,
         .count = 1,
         .measured = kept.overwritten,
         .bound = settings[kShare]});
  }
  verdict.judged = Counted(Whole(compared), "loaded tensor");
  return verdict;
}

Evidence Overwritten(double share, std::string_view type = "float32",
                     std::string_view source = "file") {
  RunBuilder run = TwoLayers();
  run.Attribute("parameter", "trunk.weight", "dtype", type);
  run.Event(Event::kLoaded, 0, source, "old");
  run.Event(Event::kLoaded, 0, "model", "Net");
  run.Quantity(Quantity::kOverwrittenShare, "model", "Net", share, 16);
  for (int step = 0; step < 4; ++step) AddStep(run, {.held = {}});
  return PlainOnly(run);
}

}  // namespace

Check OverwrittenWeights() {
  return {
      .id = "checkpoint/overwritten_weights",
      .title = "Loaded weights are overwritten before training",
      .promise = "Loaded weights are still in the model when training begins.",
      .why = "Weights that are initialized after the load are lost. Training starts from scratch.",
      .method =
          "Compares each tensor that load_state_dict put into a model with its value at the start "
          "of the first step.",
      .fix = "Initialize first, then load: move the call of apply(init) before load_state_dict.",
      .limits = {.needs = "A load_state_dict call before the first step.",
                 .silent_when = "Only a few tensors are new, as for a new head.",
                 .severity = "Error for all tensors of a state dict from a file. Warning for three "
                             "quarters, or for a model converted to another dtype. Note for half, "
                             "as masks zero weights, and for a state dict that came from no file.",
                 .blind_spots = "Changing all weights on purpose looks the same.",
                 .sensitivity = ""},
      .python = {.bad = R"(model.load_state_dict(torch.load("pretrained.pt"))
model.apply(init_weights)
train(model))",
                 .good = R"(model.apply(init_weights)
model.load_state_dict(torch.load("pretrained.pt"))
train(model))"},
      .cpp = {},
      .sources = {"own reasoning"},
      .covers = {"repeated-initialization"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kLoaded,
      .settings = {kShare},
      .judgement = Reads<&Judge>(),
      .examples = {{"a new head", Expect::kClean, [] { return Overwritten(0.125); }},
                   {"all tensors", Expect::kError, [] { return Overwritten(1); }},
                   {"most tensors", Expect::kWarning, [] { return Overwritten(0.8); }},
                   {"all tensors, loaded from another model", Expect::kNote,
                    [] { return Overwritten(1, "float32", "model"); }},
                   {"a conversion to another dtype", Expect::kWarning,
                    [] { return Overwritten(1, "bfloat16"); }}},
  };
}

}  // namespace dlcheck::checkpoint

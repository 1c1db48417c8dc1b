#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/built_layers.h"

namespace dlcheck::model {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const BuiltLayers& built) {
  Verdict verdict{.findings = {}, .judged = Counted(built.forwards, "module call")};
  for (const BuiltLayers::Class& one : built.classes) {
    std::vector<Place> places = {{.thing = one.name, .file = ""}};
    if (one.site.line > 0) {
      places.push_back({.thing = "", .file = one.site.file, .line = one.site.line});
    }
    verdict.findings.push_back(
        {.severity = one.matters ? Severity::kWarning : Severity::kNote,
         .message = StrCat("The model built ", one.layers, " layers of class ", one.name,
                           " in its own forwards, each for one call: ",
                           one.matters ? "what they hold begins anew every time, and no optimizer "
                                         "knows them."
                                       : "their parameters stay as they begin."),
         .places = std::move(places),
         .first_step = one.step,
         .last_step = one.step,
         .count = one.layers,
         .measured = static_cast<double>(one.layers),
         .bound = 0});
  }
  return verdict;
}

Evidence Built(bool matters, bool told = true) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 8; ++step) AddStep(run, {.held = {}});
  if (told) run.Quantity(Quantity::kBuiltAnew, "class", "Linear", 8, matters ? 1 : 0);
  return PlainOnly(run);
}

}  // namespace

Check LayersCreatedInForward() {
  return {
      .id = "model/layers_created_in_forward",
      .promise = "A model builds its layers once.",
      .why =
          "A layer that a forward builds has new random weights at every call, no optimizer knows "
          "it, no file saves it; a normalisation built so has no statistics for evaluation, and is "
          "always in training mode.",
      .method =
          "The modules that run inside a model in training and are none of its own: several of one "
          "class, with parameters, each gone when the next one runs.",
      .fix = "Call the layer that __init__ made, or make it there and keep it as an attribute.",
      .limits =
          "A note where nothing random and no statistics are lost, as with a layer norm. Only "
          "layers that run inside another module's forward are seen. Random projections that are "
          "meant to be new every time look the same.",
      .sources = {"PyTorch documentation of torch.nn.Module", "own reasoning"},
      .covers = {"M05"},
      .explains = {"learnability/cannot_overfit_one_batch", "gradients/missing"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"nothing was built", Expect::kClean, [] { return Built(true, false); }},
                   {"a normalisation without statistics", Expect::kFaulty,
                    [] { return Built(false); }},
                   {"a layer with random weights", Expect::kFaulty, [] { return Built(true); }}},
  };
}

}  // namespace dlcheck::model

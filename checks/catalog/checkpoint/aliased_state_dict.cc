#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/own_states.h"

namespace dlcheck::checkpoint {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const OwnStates& states) {
  Verdict verdict{.findings = {}, .judged = Counted(states.all, "load")};
  for (const OwnStates::Load& load : states.loads) {
    std::vector<Place> places = {{.thing = load.model, .file = ""}};
    if (load.site.line > 0) {
      places.push_back({.thing = "", .file = load.site.file, .line = load.site.line});
    }
    verdict.findings.push_back(
        {.severity = Severity::kWarning,
         .message = StrCat("After ", Counted(load.step, "step"), ", ", load.model,
                           " was given a state whose ", load.parameters,
                           " parameters are its own memory: the weights that were kept had gone on "
                           "training, and nothing is restored."),
         .places = std::move(places),
         .first_step = load.step,
         .last_step = load.step,
         .count = 1,
         .measured = load.parameters,
         .bound = 0});
  }
  return verdict;
}

Evidence Loaded(bool own) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 8; ++step) AddStep(run, {.held = {}});
  run.Event(Event::kLoaded, 0, "model", "Net");
  if (own) run.Quantity(Quantity::kOwnStateLoaded, "model", "Net", 4);
  return PlainOnly(run);
}

}  // namespace

Check AliasedStateDict() {
  return {
      .id = "checkpoint/aliased_state_dict",
      .promise = "A state that is put back into a model is a copy from before.",
      .why =
          "model.state_dict() holds the weights themselves, not copies: kept as the best ones so "
          "far it goes on with the training, and to load it does nothing.",
      .method =
          "At every load into a model after training began: whether the tensors that it is given "
          "lie where its own parameters lie.",
      .fix =
          "Where the weights are kept, keep copy.deepcopy(model.state_dict()), or save it to a "
          "file.",
      .limits =
          "Loads before the first step are not judged, nor those that put the given tensors in the "
          "place of the parameters (assign=True). A model that is given its own state for no "
          "purpose looks the same.",
      .sources = {"PyTorch documentation: saving and loading models", "own reasoning: exact"},
      .covers = {"K05"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"a copy", Expect::kClean, [] { return Loaded(false); }},
                   {"its own memory", Expect::kFaulty, [] { return Loaded(true); }}},
  };
}

}  // namespace dlcheck::checkpoint

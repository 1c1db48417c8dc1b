#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/checkpoint/own_states.h"

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
                           " loaded a state dict whose ", load.parameters,
                           " parameters share memory with the model: the kept weights had changed "
                           "with training, so the load restored nothing."),
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
      .title = "The kept state_dict() shares the model's memory",
      .promise = "A state dict that is loaded back into a model is an earlier copy.",
      .why =
          "model.state_dict() holds the weights themselves, not copies. A state dict kept as the "
          "best weights changes with further training, and loading it does nothing.",
      .method =
          "Compares the addresses of the loaded tensors with those of the model's parameters at "
          "every load after training began.",
      .fix =
          "Keep copy.deepcopy(model.state_dict()) instead, or save the state dict to a file. For a "
          "target network, build it by copy.deepcopy(model): `target = model` is the same "
          "network.",
      .limits = {.needs = "A load_state_dict call after the first step.",
                 .silent_when = "The load comes before the first step. The load replaces the "
                                "parameters with the given tensors (assign=True).",
                 .severity = "Always a warning.",
                 .blind_spots =
                     "A model that loads its own current state without a purpose looks the same.",
                 .sensitivity = ""},
      .python = {.bad = R"(if accuracy > best:
    best = accuracy
    best_state = model.state_dict()  # the live weights
...
model.load_state_dict(best_state))",
                 .good = R"(if accuracy > best:
    best = accuracy
    best_state = copy.deepcopy(model.state_dict())
...
model.load_state_dict(best_state))"},
      .cpp = {.bad = R"(if (accuracy > best) {
  best = accuracy;
  best_weights = model->parameters();  // the live weights
})",
              .good = R"(if (accuracy > best) {
  best = accuracy;
  best_weights.clear();
  for (auto& p : model->parameters()) best_weights.push_back(p.detach().clone());
})"},
      .sources = {"PyTorch documentation: saving and loading models", "own reasoning: exact"},
      .covers = {"unnoticed-missing-keys"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"a copy", Expect::kClean, [] { return Loaded(false); }},
                   {"the model's own memory", Expect::kWarning, [] { return Loaded(true); }}},
  };
}

}  // namespace dlcheck::checkpoint

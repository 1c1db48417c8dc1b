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
                         .meaning =
                             "smallest share of the model's tensors that a state dict names, if "
                             "half as many of its own tensors have no place in the model",
                         .source = "own reasoning: a new head has few tensors"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const LoadedModels& models) {
  if (models.loads.empty()) return absl::NotFoundError("no load with matching names was recorded");
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(models.loads.size()), "loaded state")};
  for (const LoadedModels::Load& load : models.loads) {
    const bool nothing = load.share == 0 && load.unexpected > 0;
    const bool little = load.share < settings[kShare] && load.parameters > 0 &&
                        load.unexpected >= 0.5 * load.parameters;
    if (!nothing && !little) continue;
    const std::string unexpected = Counted(Whole(load.unexpected), "tensor");
    verdict.findings.push_back(
        {.severity = nothing ? Severity::kError : Severity::kWarning,
         .message =
             nothing ? StrCat("The state dict loaded into ", load.model, " before step ", load.step,
                              " named none of the model's tensors; ", unexpected, " had no place.")
                     : StrCat("The state dict loaded into ", load.model, " before step ", load.step,
                              " named ", Short(100 * load.share), " % of the model's tensors; ",
                              unexpected, " had no place."),
         .places = {{.thing = load.model, .file = ""}},
         .first_step = load.step,
         .last_step = load.step,
         .count = 1,
         .measured = load.share,
         .bound = nothing ? 0 : settings[kShare]});
  }
  return verdict;
}

// Two tensors in the model; state dicts that name such shares of it and two tensors without a
// place.
Evidence Loaded(std::initializer_list<double> shares) {
  RunBuilder run = TwoLayers();
  for (const double share : shares) {
    run.Event(Event::kLoaded, 0, "model", "Net");
    run.Quantity(Quantity::kLoadedShare, "model", "Net", share, 2);
  }
  for (int step = 0; step < 4; ++step) AddStep(run, {.held = {}});
  return PlainOnly(run);
}

}  // namespace

Check NoMatchingKeys() {
  return {
      .id = "checkpoint/no_matching_keys",
      .title = "load_state_dict() matches no keys of the model",
      .promise = "A state dict that a model loads names tensors of that model.",
      .why = "The model silently keeps its random weights. Training starts from scratch.",
      .method =
          "Compares the names of the state dict given to Module.load_state_dict(strict=False) with "
          "the names in the model.",
      .fix =
          "Strip prefixes such as 'module.' or '_orig_mod.' from the names. Use strict=True, or "
          "check the keys that load_state_dict returns.",
      .limits =
          {.needs = "A call of load_state_dict with strict=False.",
           .silent_when =
               "Several state dicts are loaded before one step: only the best match is judged.",
           .severity =
               "Error if no name matches. Warning for a few matches if the state dict holds as "
               "many tensors without a place. Loading parts of a model is healthy.",
           .blind_spots = "",
           .sensitivity = ""},
      .python = {.bad = R"(state = torch.load("ddp.pt")  # keys start with "module."
model.load_state_dict(state, strict=False)
model.to(device))",
                 .good = R"(state = torch.load("ddp.pt")  # keys start with "module."
state = {k.removeprefix("module."): v for k, v in state.items()}
model.load_state_dict(state, strict=True)
model.to(device))"},
      .cpp = {.bad = R"(torch::NoGradGuard no_grad;
for (auto& p : saved) {  // keys start with "module."
  if (auto* own = parameters.find(p.key())) own->copy_(p.value());
})",
              .good = R"(torch::NoGradGuard no_grad;
for (auto& p : saved) {  // keys start with "module."
  parameters[p.key().substr(7)].copy_(p.value());
})"},
      .sources = {"PyTorch documentation of torch.nn.Module.load_state_dict", "own reasoning"},
      .covers = {"unnoticed-missing-keys", "key-prefix-mismatch", "pretrained-weights-lost"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kLoaded,
      .settings = {kShare},
      .judgement = Reads<&Judge>(),
      .examples = {{"half of the model", Expect::kClean, [] { return Loaded({0.5}); }},
                   {"no tensor", Expect::kError, [] { return Loaded({0}); }},
                   {"a hundredth of the model", Expect::kWarning, [] { return Loaded({0.01}); }},
                   {"no tensor, then all tensors after renaming", Expect::kClean,
                    [] {
                      return Loaded({0, 1});
                    }}},
  };
}

}  // namespace dlcheck::checkpoint

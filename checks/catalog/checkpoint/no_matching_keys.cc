#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/engine/whole.h"
#include "checks/signals/loaded_models.h"

namespace dlcheck::checkpoint {
namespace {

constexpr Setting kShare{.name = "share",
                         .value = 0.5,
                         .low = 0,
                         .high = 1,
                         .unit = "1",
                         .meaning =
                             "share of a model's tensors that a state has to name, where "
                             "half as many of its own have no place in the model",
                         .source = "own reasoning: a new head is a few tensors"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const LoadedModels& models) {
  if (models.loads.empty()) return absl::NotFoundError("what a state fitted was not recorded");
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
         .message = nothing ? StrCat("The state put into ", load.model, " before step ", load.step,
                                     " named none of its tensors; ", unexpected, " fitted nowhere.")
                            : StrCat("The state put into ", load.model, " before step ", load.step,
                                     " named ", Short(100 * load.share), " % of its tensors; ",
                                     unexpected, " fitted nowhere."),
         .places = {{.thing = load.model, .file = ""}},
         .first_step = load.step,
         .last_step = load.step,
         .count = 1,
         .measured = load.share,
         .bound = nothing ? 0 : settings[kShare]});
  }
  return verdict;
}

// Two tensors in the model; states that name such shares of it, with two that have no place.
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
      .promise = "A state that is put into a model names tensors of that model.",
      .why =
          "The model keeps its random weights, and nothing says so: training begins from scratch.",
      .method =
          "Names of the state given to Module.load_state_dict(strict=False), against those of the "
          "model.",
      .fix =
          "Compare the names: a prefix such as 'module.' or '_orig_mod.' of a wrapper has to be "
          "taken off; use strict=True, or look at what load_state_dict returns.",
      .limits =
          "Of several states put into a model before one step only the best is judged. Parts of "
          "a model may be loaded: little is a warning only if the state holds as much that has "
          "no place.",
      .sources = {"PyTorch documentation of torch.nn.Module.load_state_dict", "own reasoning"},
      .covers = {"K05", "K13"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kLoaded,
      .settings = {kShare},
      .judgement = Reads<&Judge>(),
      .examples = {{"half of the model", Expect::kClean, [] { return Loaded({0.5}); }},
                   {"nothing", Expect::kFaulty, [] { return Loaded({0}); }},
                   {"a hundredth", Expect::kFaulty, [] { return Loaded({0.01}); }},
                   {"nothing, then all under other names", Expect::kClean,
                    [] {
                      return Loaded({0, 1});
                    }}},
  };
}

}  // namespace dlcheck::checkpoint

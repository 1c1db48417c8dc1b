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
                         .meaning = "share of loaded tensors that may be made anew",
                         .source = "own reasoning: a new head is a few tensors"};

// What was read from a file is wanted. What came from another model may be the start of a mutation,
// a half that changes may be what a mask cuts, and a conversion to another type changes all.
Severity SeverityOf(const LoadedModels& models, const LoadedModels::Kept& kept) {
  if (!models.from_file || kept.overwritten < 0.75) return Severity::kNote;
  return kept.overwritten < 1 || kept.converted ? Severity::kWarning : Severity::kError;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const LoadedModels& models) {
  if (models.kept.empty()) {
    return absl::NotFoundError("no loaded model was looked at as its training began");
  }
  Verdict verdict;
  double compared = 0;
  for (const LoadedModels::Kept& kept : models.kept) {
    compared += kept.compared;
    if (kept.compared < 2 || kept.overwritten < settings[kShare]) continue;
    verdict.findings.push_back(
        {.severity = SeverityOf(models, kept),
         .message = StrCat("Of ", Counted(Whole(kept.compared), "tensor"),
                           " loaded into ", kept.model, ", ",
                           kept.overwritten >= 1 ? std::string("every one")
                                                 : Short(100 * kept.overwritten) + " %",
                           " held something else at its first step, before which nothing was "
                           "trained."),
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
      .promise = "Loaded weights are still there when training begins.",
      .why = "Weights that are initialised after they were loaded are lost: training begins anew.",
      .method =
          "Each tensor that load_state_dict put into a model, against what it holds as the first "
          "step begins.",
      .fix = "Initialise first, then load: move the call of apply(init) before load_state_dict.",
      .limits =
          "New tensors for a head are legal, and so is changing all weights on purpose. An error "
          "for all tensors of a state from a file; a warning for three quarters, or a model that "
          "was converted to another type; a note for half, as masks cut, or a state that came from "
          "no file.",
      .sources = {"own reasoning"},
      .covers = {"I04"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kLoaded,
      .settings = {kShare},
      .judgement = Reads<&Judge>(),
      .examples = {{"a new head", Expect::kClean, [] { return Overwritten(0.125); }},
                   {"all of them", Expect::kFaulty, [] { return Overwritten(1); }},
                   {"most of them", Expect::kFaulty, [] { return Overwritten(0.8); }},
                   {"all of another model", Expect::kFaulty,
                    [] { return Overwritten(1, "float32", "model"); }},
                   {"a conversion", Expect::kFaulty, [] { return Overwritten(1, "bfloat16"); }}},
  };
}

}  // namespace dlcheck::checkpoint

#include <algorithm>

#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/sensitivities.h"

namespace dlcheck::data {
namespace {

constexpr Setting kSteps{
    .name = "steps",
    .value = 2,
    .low = 1,
    .high = 1e6,
    .unit = "steps",
    .meaning = "fewest steps of the trials that had padding, all of which count it",
    .source = "own reasoning: one batch may be special"};

absl::StatusOr<Verdict> Judge(const Settings& settings,
                              const During<kTrials, Sensitivities>& tried) {
  const std::vector<Sensitivities::Trial>& trials = tried->counted.trials;
  if (trials.empty()) {
    return absl::FailedPreconditionError(
        "no loss was seen to have a target for each token of a text whose padding is marked");
  }
  const auto count = static_cast<int64_t>(trials.size());
  Verdict verdict{.findings = {}, .judged = Counted(count, "step")};
  const bool all = std::ranges::all_of(trials, [](const auto& trial) { return trial.share > 0; });
  if (!all || static_cast<double>(count) < settings[kSteps]) return verdict;
  const Sensitivities::Trial& first = trials.front();
  verdict.findings.push_back(
      {.severity = Severity::kNote,
       .message = StrCat("The loss counts padding: ", first.share, " of the ", first.rounding,
                         " targets at step ", first.step, " stand where ", first.model,
                         " is told that there is none of the text, and none is left out."),
       .places = {{.thing = first.model, .file = ""}},
       .first_step = first.step,
       .last_step = trials.back().step,
       .count = count,
       .measured = first.share,
       .bound = 0});
  return verdict;
}

// So many targets at padding, in each of two steps.
Evidence Counting(double first, double second) {
  RunBuilder trials;
  for (const double padding : {first, second}) {
    AddStep(trials, {.held = {}});
    trials.Quantity(Quantity::kCountedPadding, "model", "Tagger", padding, 96);
  }
  Evidence evidence;
  evidence.Add(kPlain, TwoLayers().Build());
  evidence.Add(kTrials, trials.Build());
  return evidence;
}

}  // namespace

Check PaddingInLoss() {
  return {
      .id = "data/padding_in_loss",
      .promise = "Targets at padded positions are left out of the loss.",
      .why =
          "The model spends itself on saying padding, the more the longer the longest text of a "
          "batch is, and the loss and every accuracy look better than they are.",
      .method =
          "The targets of a cross-entropy that gives one number are counted where the mask that "
          "the model is given marks padding.",
      .fix = "Set the targets there to ignore_index (-100), or select the others before the loss.",
      .limits =
          "Needs --deep and a mask among the inputs (see attention/unmasked_padding). A note, as "
          "a model may be meant to say where a text ends. Silent if any target is ignored or has "
          "no weight, if the loss is not reduced, if no row has more than one padded position, "
          "and where a second text is among the inputs.",
      .sources = {"PyTorch: torch.nn.CrossEntropyLoss, ignore_index", "own reasoning"},
      .covers = {"T13"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"left out in one of two steps", Expect::kClean, [] { return Counting(8, 0); }},
                   {"counted in both", Expect::kFaulty, [] { return Counting(8, 1); }}},
  };
}

}  // namespace dlcheck::data

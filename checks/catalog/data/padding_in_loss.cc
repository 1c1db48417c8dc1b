#include <algorithm>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/model/sensitivities.h"

namespace dlcheck::data {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 2,
                         .low = 1,
                         .high = 1e6,
                         .unit = "steps",
                         .meaning = "fewest tested steps with padding, all of which count it",
                         .source = "own reasoning: one batch may be an exception"};

absl::StatusOr<Verdict> Judge(const Settings& settings,
                              const During<kTrials, Sensitivities>& tried) {
  const std::vector<Sensitivities::Trial>& trials = tried->counted.trials;
  if (trials.empty()) {
    return absl::FailedPreconditionError(
        "no loss had one target per token of a text whose padding is marked");
  }
  const auto count = static_cast<int64_t>(trials.size());
  Verdict verdict{.findings = {}, .judged = Counted(count, "step")};
  const bool all = std::ranges::all_of(trials, [](const auto& trial) { return trial.share > 0; });
  if (!all || static_cast<double>(count) < settings[kSteps]) return verdict;
  const Sensitivities::Trial& first = trials.front();
  verdict.findings.push_back(
      {.severity = Severity::kNote,
       .message = StrCat("The loss counted padding: ", first.share, " of ", first.rounding,
                         " targets at step ", first.step, " were at positions that the mask of ",
                         first.model, " marks as padding, and none was ignored."),
       .places = {{.thing = first.model, .file = ""}},
       .first_step = first.step,
       .last_step = trials.back().step,
       .count = count,
       .measured = first.share,
       .bound = 0});
  return verdict;
}

// `first` and `second` targets at padded positions, in two steps.
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
      .title = "The loss counts padded positions",
      .promise = "The loss ignores the targets at padded positions.",
      .why =
          "The model learns to predict padding, more so when the longest text of a batch is long. "
          "The loss and every accuracy look better than they are.",
      .method =
          "Counts the targets of a scalar cross-entropy at the positions that the model's mask "
          "marks as padding.",
      .fix =
          "Set the targets at padded positions to ignore_index (-100), or select the other "
          "positions before the loss.",
      .limits =
          {.needs = "--deep, and a padding mask among the model's inputs (see "
                    "attention/unmasked_padding).",
           .silent_when = "Any target is ignored or has weight zero. The loss is not reduced. Each "
                          "row has at most one padded position. The inputs contain a second text.",
           .severity =
               "Always a note: a model may be trained on purpose to predict where a text ends.",
           .blind_spots = "",
           .sensitivity = ""},
      .python = {.bad = R"(labels = batch["input_ids"].clone()
logits = model(batch["input_ids"], batch["attention_mask"])
loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten()))",
                 .good = R"(labels = batch["input_ids"].clone()
labels[batch["attention_mask"] == 0] = -100  # ignore_index
logits = model(batch["input_ids"], batch["attention_mask"])
loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten()))"},
      .cpp = {},
      .sources = {"PyTorch: torch.nn.CrossEntropyLoss, ignore_index", "own reasoning"},
      .covers = {"wrong-tokens-in-loss"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"padding ignored in one of two steps", Expect::kClean,
                    [] { return Counting(8, 0); }},
                   {"padding counted in both steps", Expect::kNote, [] { return Counting(8, 1); }}},
  };
}

}  // namespace dlcheck::data

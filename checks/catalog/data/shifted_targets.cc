#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/findings/step_finding.h"
#include "checks/catalog/findings/trial_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/data/target_shifts.h"

namespace dlcheck::data {
namespace {

// Says why the only shift is wrong; empty if the shift is right.
std::string Wrong(const Settings& settings, int64_t shift, const Sensitivities* tried) {
  if (shift > 1) {
    return StrCat("were ", shift, " positions ahead of the input instead of one");
  }
  if (shift < 0)
    return "were one position behind the input: tokens that the model had already read";
  if (shift == 1 || tried == nullptr) return "";
  for (const Sensitivities::Trial& trial : tried->copies.trials) {
    if (trial.share <= settings[kTimes] * trial.rounding + settings[kFloor]) {
      return "were the input itself, and the outputs depend on no later tokens: the model learns "
             "to copy";
    }
  }
  return "";
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const TargetShifts& targets,
                              const IfSeen<During<kTrials, Sensitivities>>& tried) {
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(targets.steps.size()), "step")};
  const bool enough = static_cast<double>(targets.steps.size()) >= settings[kEnoughSteps];
  if (!enough || targets.shifts.size() != 1) return verdict;
  const int64_t shift = *targets.shifts.begin();
  const std::string wrong = Wrong(settings, shift, tried ? &*tried : nullptr);
  if (wrong.empty()) return verdict;
  verdict.findings.push_back(FindingOver(
      targets.steps, Severity::kWarning,
      StrCat("In all ", Counted(static_cast<int64_t>(targets.steps.size()), "checked step"),
             ", the targets of ", targets.function, " ", wrong, "."),
      {{.thing = targets.function, .file = ""}}, static_cast<double>(shift), 1));
  return verdict;
}

struct Shifted {
  int steps = 3;
  double shift = 1;
  double other = 1;   // of a second loss, in the last step only
  double share = -1;  // how far outputs change with later tokens; below 0: not tested
};

Evidence With(const Shifted& values) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < values.steps; ++step) {
    AddStep(run, {.held = {}});
    run.Quantity(Quantity::kTargetShift, "loss", "cross_entropy", values.shift, 96);
  }
  if (values.other != values.shift && values.other != 1) {
    run.Quantity(Quantity::kTargetShift, "loss", "nll_loss", values.other, 96);
  }
  Evidence evidence;
  evidence.Add(kPlain, run.Build());
  if (values.share >= 0) {
    RunBuilder trial;
    AddStep(trial, {.held = {}});
    trial.Quantity(Quantity::kCopiedFutureSensitivity, "model", "Gpt", values.share, 0);
    evidence.Add(kTrials, trial.Build());
  }
  return evidence;
}

}  // namespace

Check ShiftedTargets() {
  return {
      .id = "data/shifted_targets",
      .title = "Language model targets are shifted wrongly",
      .promise = "The target of a language model at each position is the next token.",
      .why =
          "With a double shift, the model learns to skip a token and cannot write a sentence. "
          "Without a shift, the model learns to copy, and its loss falls to zero.",
      .method =
          "Compares the integer targets of a cross-entropy with the model's input tokens, position "
          "by position. With --deep, also tests whether the model's outputs depend on later "
          "tokens.",
      .fix =
          "Shift the labels once: in the data, in the loss, or inside a model that takes labels.",
      .limits = {.needs = "A language model with integer tokens as inputs and a cross-entropy over "
                          "them. --deep for targets equal to the input.",
                 .silent_when = "Counted targets are input tokens at differing distances. Another "
                                "loss has a different distance. Targets equal the input, and no "
                                "test shows that the model sees no later tokens.",
                 .severity = "Always a warning.",
                 .blind_spots =
                     "A prefix that the model puts before its input changes the distance.",
                 .sensitivity = ""},
      .python = {.bad = R"(labels = tokens[:, 1:]
logits = model(tokens[:, :-1])
loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten()))",
                 .good = R"(labels = tokens[:, 1:]
logits = model(tokens[:, :-1])
loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten()))"},
      .cpp = {.bad = R"(auto labels = tokens.slice(1, 1);
auto logits = model->forward(tokens.slice(1, 0, -1)).slice(1, 0, -1);
auto loss = F::cross_entropy(logits.flatten(0, 1), labels.slice(1, 1).flatten());)",
              .good = R"(auto labels = tokens.slice(1, 1);
auto logits = model->forward(tokens.slice(1, 0, -1));
auto loss = F::cross_entropy(logits.flatten(0, 1), labels.flatten());)"},
      .sources = {"transformers #47394: labels shifted twice", "own reasoning: exact"},
      .covers = {"wrongly-shifted-labels"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {kEnoughSteps, kTimes, kFloor},
      .judgement = Reads<&Judge>(),
      .examples = {{"the next token", Expect::kClean, [] { return With({}); }},
                   {"the token after the next", Expect::kWarning,
                    [] { return With({.shift = 2}); }},
                   {"the token after the next, in a second head", Expect::kClean,
                    [] { return With({.shift = 2, .other = 3}); }},
                   {"the previous token", Expect::kWarning, [] { return With({.shift = -1}); }},
                   {"the input itself", Expect::kClean, [] { return With({.shift = 0}); }},
                   {"the input itself, in a model that sees later tokens", Expect::kClean,
                    [] { return With({.shift = 0, .share = 0.1}); }},
                   {"the input itself, in a model that sees no later tokens", Expect::kWarning,
                    [] { return With({.shift = 0, .share = 0}); }},
                   {"the token after the next, in only two steps", Expect::kClean,
                    [] { return With({.steps = 2, .shift = 2}); }}},
  };
}

}  // namespace dlcheck::data

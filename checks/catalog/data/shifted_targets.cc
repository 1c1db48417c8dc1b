#include "checks/catalog/example_runs.h"
#include "checks/catalog/step_finding.h"
#include "checks/catalog/trial_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/target_shifts.h"

namespace dlcheck::data {
namespace {

// What is wrong with the only shift that was seen; empty if nothing is.
std::string Wrong(const Settings& settings, int64_t shift, const Sensitivities* tried) {
  if (shift > 1) {
    return StrCat("run ", shift, " positions ahead of its input: the token after the next");
  }
  if (shift < 0) return "run one position behind its input: a token that it was just given";
  if (shift == 1 || tried == nullptr) return "";
  for (const Sensitivities::Trial& trial : tried->copies.trials) {
    if (trial.share <= settings[kTimes] * trial.rounding + settings[kFloor]) {
      return "are its very input, and its outputs depend on no later tokens: it learns to copy";
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
  verdict.findings.push_back(
      FindingOver(targets.steps, Severity::kWarning,
                  StrCat("In all ", Counted(static_cast<int64_t>(targets.steps.size()), "step"),
                         " that were looked at, the targets of ", targets.function, " ", wrong, "."),
                  {{.thing = targets.function, .file = ""}}, static_cast<double>(shift), 1));
  return verdict;
}

struct Shifted {
  int steps = 3;
  double shift = 1;
  double other = 1;  // of a second loss, of the last step alone
  double share = -1;  // how far outputs move with later tokens; below 0: not tried
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
      .promise = "The target of a language model at each position is the next token.",
      .why =
          "Shifted twice, the model learns to skip a token and never gives a sentence; not shifted, "
          "it learns to copy, and its loss falls to nothing.",
      .method =
          "The integer targets of a cross-entropy are compared, position by position, with the "
          "tokens that the model was called with; in a trial (--deep) also whether its outputs "
          "depend on later tokens.",
      .fix =
          "Shift once: in the data, or in the loss, or inside the model where it takes labels, but "
          "only in one of them.",
      .limits =
          "Speaks only where all targets that count are tokens of the input at one and the same "
          "distance, and no other loss has another one. Targets that are the input itself are "
          "clean unless a trial shows that the model sees no later token. Prefixes that a model "
          "puts before its input move the distance.",
      .sources = {"transformers #47394: labels shifted twice", "own reasoning: exact"},
      .covers = {"T06"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kEnoughSteps, kTimes, kFloor},
      .judgement = Reads<&Judge>(),
      .examples = {{"the next token", Expect::kClean, [] { return With({}); }},
                   {"the one after it", Expect::kFaulty, [] { return With({.shift = 2}); }},
                   {"the one after it, as a second head", Expect::kClean,
                    [] { return With({.shift = 2, .other = 3}); }},
                   {"the one before", Expect::kFaulty, [] { return With({.shift = -1}); }},
                   {"the input itself", Expect::kClean, [] { return With({.shift = 0}); }},
                   {"the input itself, of a model that sees later tokens", Expect::kClean,
                    [] { return With({.shift = 0, .share = 0.1}); }},
                   {"the input itself, of a model that does not", Expect::kFaulty,
                    [] { return With({.shift = 0, .share = 0}); }},
                   {"the one after it, in two steps", Expect::kClean,
                    [] { return With({.steps = 2, .shift = 2}); }}},
  };
}

}  // namespace dlcheck::data

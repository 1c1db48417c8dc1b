#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/future_sensitivity.h"

namespace dlcheck::attention {
namespace {

constexpr Setting kTimes{
    .name = "times",
    .value = 16,
    .low = 1,
    .high = 1e9,
    .unit = "times what rounding explains",
    .meaning = "motion of early outputs that counts, added to `floor`",
    .source = "measured: exactly 0 in three healthy models, 0.0034 and 0.17 with two faults"};
constexpr Setting kFloor{.name = "floor",
                         .value = 1e-6,
                         .low = 0,
                         .high = 1,
                         .unit = "of the outputs' norm",
                         .meaning = "motion of early outputs that counts, added to `times`",
                         .source = "rounding of float32 sums whose order changes: 1e-7"};

absl::StatusOr<Verdict> Judge(const Settings& settings,
                              const During<kTrials, FutureSensitivity>& sensitivity) {
  const auto count = static_cast<int64_t>(sensitivity->trials.size());
  Verdict verdict{.findings = {}, .judged = Counted(count, "trial")};
  for (const FutureSensitivity::Trial& trial : sensitivity->trials) {
    const double bound = settings[kTimes] * trial.rounding + settings[kFloor];
    if (!(trial.share > bound)) continue;
    verdict.findings.push_back(
        {.severity = Severity::kError,
         .message = StrCat("When only later tokens change, outputs at early positions of ",
                           trial.model, " move by ", Short(trial.share), " of their norm at step ",
                           trial.step, ", where rounding explains ", Short(trial.rounding), "."),
         .places = {{.thing = trial.model, .file = ""}},
         .first_step = trial.step,
         .last_step = trial.step,
         .count = 1,
         .measured = trial.share,
         .bound = bound});
    return verdict;
  }
  return verdict;
}

Evidence Moved(double share) {
  RunBuilder trial;
  for (int step = 0; step < 4; ++step) AddStep(trial, {.held = {}});
  trial.Quantity(Quantity::kFutureSensitivity, "model", "Gpt", share, 1e-7);
  Evidence evidence;
  evidence.Add(kPlain, TwoLayers().Build());
  evidence.Add(kTrials, trial.Build());
  return evidence;
}

}  // namespace

Check FutureLeak() {
  return {
      .id = "attention/future_leak",
      .promise = "The outputs of a causal model depend on no later input.",
      .why =
          "The model learns to copy what it is to predict: its loss is far too good, and what it "
          "generates is worthless.",
      .method =
          "Between two steps the second half of a sequence is replaced, and the outputs at the "
          "first half are compared with those from before, in evaluation mode.",
      .fix =
          "Look at the mask: is_causal, the diagonal of triu or tril, its dtype (true means see or "
          "hide), and at anything else that mixes positions, such as a norm over time.",
      .limits =
          "Needs a host that can try its model (--deep) and knows it to be causal. A leak of fewer "
          "positions than half a sequence shows at the border of the halves alone.",
      .sources = {"Vaswani et al. 2017", "own reasoning: an exact test"},
      .covers = {"T01", "T02", "T03"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .settings = {kTimes, kFloor},
      .judgement = Reads<&Judge>(),
      .examples = {{"as much as rounding explains", Expect::kClean, [] { return Moved(1e-6); }},
                   {"ten times as much", Expect::kFaulty, [] { return Moved(1e-5); }}},
  };
}

}  // namespace dlcheck::attention

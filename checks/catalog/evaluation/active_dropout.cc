#include "checks/catalog/trial_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/engine/whole.h"

namespace dlcheck::evaluation {
namespace {

absl::StatusOr<Verdict> Judge(const Settings& settings,
                              const During<kTrials, Sensitivities>& tried) {
  if (tried->noise.trials.empty()) {
    return absl::FailedPreconditionError(tried->noise.untried.empty() ? "no model was evaluated"
                                                                      : tried->noise.untried);
  }
  const auto count = static_cast<int64_t>(tried->noise.trials.size());
  Verdict verdict{.findings = {}, .judged = Counted(count, "trial")};
  for (const Sensitivities::Trial& trial : tried->noise.trials) {
    const auto calls = Whole(trial.rounding);
    if (calls == 0 || !(trial.share > settings[kFloor])) continue;
    verdict.findings.push_back(
        {.severity = Severity::kWarning,
         .message = StrCat("In evaluation mode ", Counted(calls, "call"), " of ", trial.where,
                           " in ", trial.model, " still dropped numbers: two evaluations of one ",
                           "batch lie ", Short(trial.share), " of the outputs' norm apart."),
         .places = {{.thing = trial.model, .file = ""}},
         .first_step = trial.step,
         .last_step = trial.step,
         .count = 1,
         .measured = trial.share,
         .bound = settings[kFloor]});
    return verdict;
  }
  return verdict;
}

Evidence Noisy(double share, double calls) {
  return WithTrial(Quantity::kEvaluationNoise, share, calls);
}

}  // namespace

Check ActiveDropout() {
  return {
      .id = "evaluation/active_dropout",
      .promise = "In evaluation mode nothing is dropped.",
      .why =
          "Every score and every output in use is worse than the model, and never twice the same.",
      .method =
          "A copy of the model in evaluation mode is run twice on one batch, with the calls of "
          "dropout functions counted that are told to train.",
      .fix =
          "Use nn.Dropout, or F.dropout(x, p, training=self.training): the function's own default "
          "is to drop.",
      .limits =
          "Needs --deep. Models that drop in evaluation on purpose (Monte Carlo dropout) are told "
          "too; other randomness, as in a sampling autoencoder, is not. One dropped number is "
          "enough.",
      .sources = {"PyTorch: torch.nn.functional.dropout, training=True by default"},
      .covers = {"M16"},
      .explains = {"evaluation/nondeterministic"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {kFloor},
      .judgement = Reads<&Judge>(),
      .examples = {{"noise of another origin", Expect::kClean, [] { return Noisy(0.1, 0); }},
                   {"one active call", Expect::kFaulty, [] { return Noisy(0.1, 1); }},
                   {"an active call that reaches no output", Expect::kClean,
                    [] { return Noisy(0, 1); }}},
  };
}

}  // namespace dlcheck::evaluation

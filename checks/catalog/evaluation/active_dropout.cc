#include "checks/catalog/findings/trial_finding.h"
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
  Verdict verdict{.findings = {}, .judged = Counted(count, "test")};
  for (const Sensitivities::Trial& trial : tried->noise.trials) {
    const auto calls = Whole(trial.rounding);
    if (calls == 0 || !(trial.share > settings[kFloor])) continue;
    verdict.findings.push_back(
        {.severity = Severity::kWarning,
         .message = StrCat("In evaluation mode, ", Counted(calls, "call"), " of ", trial.where,
                           " in ", trial.model, " still dropped values: two evaluations of one ",
                           "batch differed by ", Short(trial.share), " of the outputs' norm."),
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
      .title = "Dropout stays active in evaluation mode",
      .promise = "Dropout is inactive in evaluation mode.",
      .why =
          "Every metric and every output in use is worse than the model. Two evaluations of the "
          "same input differ.",
      .method =
          "Runs a copy of the model twice on one batch in evaluation mode and compares the "
          "outputs. Counts the calls of dropout functions with training=True.",
      .fix =
          "Use nn.Dropout, or call F.dropout(x, p, training=self.training). The default of "
          "F.dropout is training=True.",
      .limits =
          {.needs = "--deep.",
           .silent_when = "The outputs vary for another reason, as in a sampling autoencoder.",
           .severity =
               "Always a warning, also for dropout in evaluation on purpose (Monte Carlo dropout).",
           .blind_spots = "",
           .sensitivity = "A single dropped value is enough."},
      .python = {.bad = R"(def forward(self, x):
    x = F.relu(self.fc1(x))
    x = F.dropout(x, 0.5)  # training=True is the default
    return self.fc2(x))",
                 .good = R"(def forward(self, x):
    x = F.relu(self.fc1(x))
    x = F.dropout(x, 0.5, training=self.training)
    return self.fc2(x))"},
      .cpp = {.bad = R"(torch::Tensor forward(torch::Tensor x) {
  x = torch::relu(fc1(x));
  x = torch::dropout(x, 0.5, /*train=*/true);
  return fc2(x);
})",
              .good = R"(torch::Tensor forward(torch::Tensor x) {
  x = torch::relu(fc1(x));
  x = torch::dropout(x, 0.5, is_training());
  return fc2(x);
})"},
      .sources = {"PyTorch: torch.nn.functional.dropout, training=True by default"},
      .covers = {"dropout-active-in-eval"},
      .explains = {"evaluation/nondeterministic"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {kFloor},
      .judgement = Reads<&Judge>(),
      .examples = {{"noise of another source", Expect::kClean, [] { return Noisy(0.1, 0); }},
                   {"one active call", Expect::kWarning, [] { return Noisy(0.1, 1); }},
                   {"an active call that reaches no output", Expect::kClean,
                    [] { return Noisy(0, 1); }}},
  };
}

}  // namespace dlcheck::evaluation

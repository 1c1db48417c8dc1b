#include <optional>
#include <utility>
#include <vector>

#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/findings/trial_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/engine/whole.h"
#include "checks/signals/evaluation/evaluation_dropout.h"

namespace dlcheck::evaluation {
namespace {

// What the program's own evaluations did.
Finding InPlainRun(const EvaluationDropout::Model& model) {
  std::vector<Place> places = {{.thing = model.name, .file = ""}};
  if (model.site.line > 0) {
    places.push_back({.thing = "", .file = model.site.file, .line = model.site.line});
  }
  return {.severity = Severity::kWarning,
          .message = StrCat("In evaluation mode, ", model.name, " called a dropout function in ",
                            "training mode (p=", Short(model.probability), "), at least ",
                            Counted(model.calls, "time"), "."),
          .places = std::move(places),
          .first_step = model.step,
          .last_step = model.step,
          .count = model.calls,
          .measured = static_cast<double>(model.calls),
          .bound = 0};
}

// The first test in which an active call reached the outputs.
std::optional<Finding> InTest(const Settings& settings, const Sensitivities& tried) {
  for (const Sensitivities::Trial& trial : tried.noise.trials) {
    const auto calls = Whole(trial.rounding);
    if (calls == 0 || !(trial.share > settings[kFloor])) continue;
    return Finding{
        .severity = Severity::kWarning,
        .message = StrCat("In evaluation mode, ", Counted(calls, "call"), " of ",
                          trial.where.empty() ? "dropout" : trial.where, " in ", trial.model,
                          " still dropped values: two evaluations of one ", "batch differed by ",
                          Short(trial.share), " of the outputs' norm."),
        .places = {{.thing = trial.model, .file = ""}},
        .first_step = trial.step,
        .last_step = trial.step,
        .count = 1,
        .measured = trial.share,
        .bound = settings[kFloor]};
  }
  return std::nullopt;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const EvaluationDropout& plain,
                              const IfSeen<During<kTrials, Sensitivities>>& tried) {
  Verdict verdict{.findings = {}, .judged = Counted(plain.evaluated, "evaluated batch")};
  for (const EvaluationDropout::Model& model : plain.models) {
    verdict.findings.push_back(InPlainRun(model));
  }
  if (!verdict.findings.empty()) return verdict;
  if (!tried || tried->noise.trials.empty()) {
    if (plain.evaluated > 0) return verdict;
    if (!tried) return absl::NotFoundError("no batch was evaluated");
    return absl::FailedPreconditionError(tried->noise.untried.empty() ? "no model was evaluated"
                                                                      : tried->noise.untried);
  }
  verdict.judged = Counted(static_cast<int64_t>(tried->noise.trials.size()), "test");
  if (std::optional<Finding> finding = InTest(settings, *tried)) {
    verdict.findings.push_back(*std::move(finding));
  }
  return verdict;
}

// Evaluations of the program itself, in which a function dropped values so often.
Evidence Evaluating(int calls) {
  RunBuilder run = TwoLayers();
  AddStep(run, {.held = {}});
  run.Event(Event::kEvaluationForward, 0, "model", "Net");
  if (calls > 0) run.Quantity(Quantity::kEvaluationDropout, "model", "Net", calls, 0.5);
  AddStep(run, {.held = {}});
  return PlainOnly(run);
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
          "Counts the calls of F.dropout and its kind with training=True while the whole model is "
          "in evaluation mode. With --deep, also runs a copy of the model twice on one batch and "
          "compares the outputs.",
      .fix =
          "Use nn.Dropout, or call F.dropout(x, p, training=self.training). The default of "
          "F.dropout is training=True.",
      .limits =
          {.needs = "A call in the program's own code, or --deep.",
           .silent_when = "nn.Dropout modules are switched to training mode on purpose.",
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
      .explains = {"evaluation/nondeterministic", "evaluation/draws_random_numbers"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {kFloor},
      .judgement = Reads<&Judge>(),
      .examples =
          {{"an evaluation without such a call", Expect::kClean, [] { return Evaluating(0); }},
           {"one such call in an evaluation", Expect::kWarning, [] { return Evaluating(1); }},
           {"noise of another source", Expect::kClean, [] { return Noisy(0.1, 0); }},
           {"one active call", Expect::kWarning, [] { return Noisy(0.1, 1); }},
           {"an active call that reaches no output", Expect::kClean, [] { return Noisy(0, 1); }}},
  };
}

}  // namespace dlcheck::evaluation

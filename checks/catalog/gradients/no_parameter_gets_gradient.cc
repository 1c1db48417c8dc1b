#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/findings/parameter_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/optimizer/optimizers.h"
#include "checks/signals/optimizer/ownership.h"

namespace dlcheck::gradients {
namespace {

constexpr Setting kSteps{
    .name = "steps",
    .value = 8,
    .low = 1,
    .high = 1e6,
    .unit = "steps",
    .meaning = "fewest steps of an optimizer without a gradient for a finding",
    .source = "own reasoning: conditional parameters receive a gradient sooner"};

Finding EndedAfter(int64_t last_step, const std::vector<std::string>& names,
                   const Gradients& gradients) {
  Finding finding = FindingAt(
      names, Severity::kWarning,
      StrCat("None of ", Counted(static_cast<int64_t>(names.size()), "optimized parameter"), " (",
             Listed(names), ") had a gradient after step ", last_step,
             ", although the optimizer went on to step."),
      gradients);
  finding.first_step = last_step + 1;
  return finding;
}

// Without a backward call, only optimizers of PyTorch are judged: others may work without
// gradients.
absl::StatusOr<Verdict> Judge(const Settings& settings, const Gradients& gradients,
                              const Optimizers& optimizers) {
  std::vector<std::string> without, no_more;
  int64_t judged = 0, stepped = 0, last_step = -1;
  bool reached = false;
  for (const Gradients::Parameter& parameter : gradients.parameters) {
    if (parameter.optimizer.empty() || !parameter.requires_grad) continue;
    if (!gradients.backward_seen && !optimizers.IsPlain(OptimizerOrdinal(parameter.optimizer))) {
      return absl::NotFoundError("no backward call was seen");
    }
    ++judged;
    reached = reached || !parameter.consumed.empty();
    if (static_cast<double>(parameter.optimizer_steps) >= settings[kSteps]) {
      without.push_back(parameter.name);
    }
    stepped += parameter.optimizer_steps > 0 ? 1 : 0;
    last_step = std::max(last_step, parameter.last_gradient);
    if (parameter.HasNoneAtTheEnd(settings[kSteps])) no_more.push_back(parameter.name);
  }
  if (judged == 0) return absl::NotFoundError("no optimized parameter was seen");
  Verdict verdict{.findings = {}, .judged = JudgedParameters(judged, gradients)};
  const bool has_ended = last_step >= 0 && static_cast<int64_t>(no_more.size()) == stepped;
  if (has_ended) verdict.findings.push_back(EndedAfter(last_step, no_more, gradients));
  if (reached || without.empty()) return verdict;
  verdict.findings.push_back(
      FindingAt(without, Severity::kError,
                StrCat("None of ", Counted(judged, "optimized parameter"), " (", Listed(without),
                       ") had a gradient at any of ",
                       Counted(static_cast<int64_t>(gradients.steps.size()), "sampled step"),
                       gradients.backward_seen ? ", although backward() was called."
                                               : ": no backward() reached one of them."),
                gradients));
  return verdict;
}

struct Facts {
  int reached = -1;  // the step at which the last parameter has a gradient
  bool backward = true;
  bool zeros = false;  // after it, it has one of zeros
};

// Steps on parameters of models that never ran in training.
Evidence Steps(const Facts& facts) {
  RunBuilder run;
  run.Attribute("optimizer", "optimizer#0", "type", "SGD");
  for (const char* name : {"optimizer#0/group#0/0", "optimizer#0/group#0/1"}) {
    run.Attribute("parameter", name, "optimizer", "optimizer#0/group#0")
        .Attribute("parameter", name, "orphan", "1");
  }
  for (int step = 0; step < 64; ++step) {
    if (facts.backward) run.Event(Event::kBackward, 0, "loss", "cross_entropy");
    if (step == facts.reached || (facts.zeros && step > facts.reached)) {
      run.Quantity(Quantity::kGradientNorm, "parameter", "optimizer#0/group#0/1",
                   step == facts.reached ? 0.1 : 0);
    }
    run.Event(Event::kStep, 0, "optimizer", "optimizer#0");
  }
  return PlainOnly(run);
}

}  // namespace

Check NoParameterGetsGradient() {
  return {
      .id = "gradients/no_parameter_gets_gradient",
      .title = "No parameter receives a gradient",
      .promise = "At least one optimized parameter has a gradient when the optimizer steps.",
      .why = "Every optimizer step runs without a gradient. The program runs but trains nothing.",
      .method =
          "Looks at the gradients of all optimizers in every sampled step. Reports a run in which "
          "no optimized parameter ever has a gradient, or none in its last eight sampled steps.",
      .fix =
          "Look between model and loss for torch.no_grad(), .detach(), .item(), torch.tensor(loss) "
          "or requires_grad_() on the loss. Check that the optimizer holds the parameters of the "
          "model that runs.",
      .limits = {.needs = "Eight sampled steps of one optimizer. Without a backward call, an "
                          "optimizer of torch.optim.",
                 .silent_when = "One parameter has a gradient in the last eight sampled steps of "
                                "its optimizer, or in the last 32 steps. Zeros count as one.",
                 .severity = "Error if there never was a gradient, otherwise a warning.",
                 .blind_spots = "A program that writes its weights itself while an optimizer steps "
                                "without effect looks the same.",
                 .sensitivity = ""},
      .python = {.bad = R"(loss = criterion(model(x), y)
loss = torch.tensor(loss.item(), requires_grad=True)
loss.backward()
optimizer.step())",
                 .good = R"(loss = criterion(model(x), y)
loss.backward()
optimizer.step())"},
      .cpp = {.bad = R"(auto loss = criterion(model->forward(x), y);
loss = torch::tensor(loss.item<float>(), torch::requires_grad());
loss.backward();)",
              .good = R"(auto loss = criterion(model->forward(x), y);
loss.backward();)"},
      .sources = {"PyTorch documentation of torch.autograd: Tensor.detach, no_grad",
                  "own reasoning"},
      .covers = {"unused-layer", "zero-weights-or-gradients"},
      .explains = {"learnability/input_independence", "learnability/cannot_overfit_one_batch",
                   "gradients/missing"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"one gradient at the last step", Expect::kClean,
                    [] { return Steps({.reached = 63}); }},
                   {"no gradient in the last 40 steps", Expect::kWarning,
                    [] { return Steps({.reached = 23}); }},
                   {"gradients of zeros in the last 40 steps", Expect::kClean,
                    [] { return Steps({.reached = 23, .zeros = true}); }},
                   {"no gradient in the last 20 steps", Expect::kClean,
                    [] { return Steps({.reached = 43}); }},
                   {"no gradient at any step", Expect::kError, [] { return Steps({}); }},
                   {"no gradient and no backward call", Expect::kError,
                    [] { return Steps({.backward = false}); }}},
  };
}

}  // namespace dlcheck::gradients

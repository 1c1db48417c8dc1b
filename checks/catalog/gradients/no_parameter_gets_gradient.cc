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

// Without a backward call, only optimizers of PyTorch are judged: others may work without
// gradients.
absl::StatusOr<Verdict> Judge(const Settings& settings, const Gradients& gradients,
                              const Optimizers& optimizers) {
  std::vector<std::string> without;
  int64_t judged = 0;
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
  }
  if (judged == 0) return absl::NotFoundError("no optimized parameter was seen");
  Verdict verdict{.findings = {}, .judged = JudgedParameters(judged, gradients)};
  if (reached || without.empty()) return verdict;
  verdict.findings.push_back(
      FindingAt(without, Severity::kError,
                StrCat("None of ", Counted(judged, "optimized parameter"), " (", Listed(without),
                       ") had a gradient at any of ",
                       Counted(static_cast<int64_t>(gradients.steps.size()), "sampled step"),
                       gradients.backward_seen ? ", although backward() was called."
                                               : ". backward() was never called."),
                gradients));
  return verdict;
}

struct Facts {
  bool reached = false;  // the last parameter has a gradient, at the last step
  bool backward = true;
};

// Steps on parameters of models that never ran in training.
Evidence Steps(const Facts& facts) {
  RunBuilder run;
  run.Attribute("optimizer", "optimizer#0", "type", "SGD");
  for (const char* name : {"optimizer#0/group#0/0", "optimizer#0/group#0/1"}) {
    run.Attribute("parameter", name, "optimizer", "optimizer#0/group#0")
        .Attribute("parameter", name, "orphan", "1");
  }
  for (int step = 0; step < 16; ++step) {
    if (facts.backward) run.Event(Event::kBackward, 0, "loss", "cross_entropy");
    if (facts.reached && step == 15) {
      run.Quantity(Quantity::kGradientNorm, "parameter", "optimizer#0/group#0/1", 0.1);
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
          "no optimized parameter ever has a gradient.",
      .fix =
          "Look between model and loss for torch.no_grad(), .detach(), .item(), torch.tensor(loss) "
          "or requires_grad_() on the loss. Check that the optimizer holds the parameters of the "
          "model that runs.",
      .limits = {.needs = "Eight sampled steps of one optimizer. Without a backward call, an "
                          "optimizer of torch.optim.",
                 .silent_when = "One parameter has a gradient at one step.",
                 .severity = "Always an error.",
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
      .cpp = {},
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
                    [] { return Steps({.reached = true}); }},
                   {"no gradient at any step", Expect::kError, [] { return Steps({}); }},
                   {"no gradient and no backward call", Expect::kError,
                    [] { return Steps({.backward = false}); }}},
  };
}

}  // namespace dlcheck::gradients

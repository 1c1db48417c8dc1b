#include "checks/catalog/example_runs.h"
#include "checks/catalog/parameter_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::gradients {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 8,
                         .low = 1,
                         .high = 1e6,
                         .unit = "steps",
                         .meaning = "steps of an optimizer without a gradient that count",
                         .source = "own reasoning: a gradient behind a condition comes sooner"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const Gradients& gradients) {
  if (!gradients.backward_seen) return absl::NotFoundError("no backward call was seen");
  std::vector<std::string> without;
  int64_t judged = 0;
  bool reached = false;
  for (const Gradients::Parameter& parameter : gradients.parameters) {
    if (parameter.optimizer.empty() || !parameter.requires_grad) continue;
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
                StrCat("Not one of ", Counted(judged, "optimized parameter"), " (", Listed(without),
                       ") got a gradient in any of ",
                       Counted(static_cast<int64_t>(gradients.steps.size()), "sampled step"),
                       ": what backward starts from does not depend on them."),
                gradients));
  return verdict;
}

// Steps on the parameters of models that never ran in training; the last one may have a gradient.
Evidence Steps(bool reached) {
  RunBuilder run;
  for (const char* name : {"optimizer#0/group#0/0", "optimizer#0/group#0/1"}) {
    run.Attribute("parameter", name, "optimizer", "optimizer#0/group#0")
        .Attribute("parameter", name, "orphan", "1");
  }
  for (int step = 0; step < 16; ++step) {
    run.Event(Event::kBackward, 0, "loss", "cross_entropy");
    if (reached && step == 15) {
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
      .promise = "What backward starts from depends on something that is optimized.",
      .why = "Every step is taken without a gradient: the program runs, and nothing is trained.",
      .method =
          "The gradients that all optimizers are given, at every sampled step: none of their "
          "parameters ever has one, although backward is called.",
      .fix =
          "Look between the model and the loss for torch.no_grad(), .detach(), .item(), "
          "torch.tensor(loss) or a loss made to require a gradient by hand; and whether the "
          "optimizer was given the parameters of the model that runs.",
      .limits =
          "One gradient of one parameter at one step makes it clean. Programs that write to their "
          "weights by hand while an optimizer steps idly look the same.",
      .sources = {"PyTorch documentation of torch.autograd: Tensor.detach, no_grad",
                  "own reasoning"},
      .covers = {"M02", "O20"},
      .explains = {"learnability/input_independence", "learnability/cannot_overfit_one_batch", "gradients/missing"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"one gradient at the last step", Expect::kClean, [] { return Steps(true); }},
                   {"none at all", Expect::kFaulty, [] { return Steps(false); }}},
  };
}

}  // namespace dlcheck::gradients

#include <set>

#include "checks/catalog/example_runs.h"
#include "checks/catalog/parameter_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/gradients.h"

namespace dlcheck::optimizer {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Gradients& gradients) {
  std::set<int> tracked_models;
  for (const Gradients::Parameter& parameter : gradients.parameters) {
    if (!parameter.optimizer.empty() && !parameter.orphan) tracked_models.insert(parameter.model);
  }
  std::vector<std::string> untracked;
  int64_t judged = 0;
  for (const Gradients::Parameter& parameter : gradients.parameters) {
    if (!parameter.requires_grad || parameter.orphan) continue;
    ++judged;
    // A model of which nothing is optimized is a teacher or a loss network.
    if (parameter.optimizer.empty() && parameter.gradient_seen &&
        tracked_models.contains(parameter.model)) {
      untracked.push_back(parameter.name);
    }
  }
  if (judged == 0) return absl::NotFoundError("no trainable parameter was seen");
  Verdict verdict{.findings = {}, .judged = JudgedParameters(judged, gradients)};
  if (!untracked.empty()) {
    verdict.findings.push_back(FindingAt(
        untracked, Severity::kWarning,
        StrCat(untracked.size(), " of ", judged, " trainable parameters (", Listed(untracked),
               ") receive gradients and are in no optimizer, which leaves "
               "them as they began."),
        gradients));
  }
  return verdict;
}

Evidence HeadIn(std::string_view optimizer) {
  RunBuilder run = TwoLayers();
  run.Attribute("parameter", "head.weight", "optimizer", optimizer);
  run.Attribute("parameter", "head.weight", "gradient_seen", "1");
  for (int step = 0; step < 8; ++step) {
    AddStep(run,
            {.head_gradient = optimizer.empty() ? std::nullopt : std::optional(0.2), .held = {}});
  }
  return PlainOnly(run);
}

}  // namespace

Check UntrackedParameters() {
  return {
      .id = "optimizer/untracked_parameters",
      .promise = "Every trainable parameter that receives gradients is in an optimizer.",
      .why =
          "A parameter outside the optimizer keeps its initial value although it looks trainable.",
      .method = "The parameters of every model that runs, against the groups of all optimizers.",
      .fix =
          "Build the optimizer after the model is complete and on its device, from "
          "model.parameters(); use optimizer.add_param_group for parts that are added later, and "
          "requires_grad_(False) for what is to stay frozen.",
      .limits =
          "A model of which no parameter is optimized (target, teacher, loss network) is not "
          "judged. Training a head alone without freezing the rest is legal and a warning. Tensors "
          "that an optimizer holds instead are what optimizer/stale_parameters finds.",
      .sources = {"PyTorch documentation of torch.optim: constructing an optimizer",
                  "own reasoning"},
      .covers = {"O04"},
      .explains = {"learnability/input_independence", "learnability/cannot_overfit_one_batch"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"all in one group", Expect::kClean,
                    [] { return HeadIn("optimizer#0/group#0"); }},
                   {"the head is in none", Expect::kFaulty, [] { return HeadIn(""); }}},
  };
}

}  // namespace dlcheck::optimizer

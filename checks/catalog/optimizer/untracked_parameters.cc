#include <set>

#include "checks/catalog/example_runs.h"
#include "checks/catalog/parameter_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/gradients.h"

namespace dlcheck::optimizer {
namespace {

// Untracked parameters that an optimizer holds an old copy of: same shape, never a gradient.
std::vector<std::string> Replaced(const Gradients& gradients) {
  std::multiset<std::string> orphans;
  for (const Gradients::Parameter& parameter : gradients.parameters) {
    if (parameter.orphan && parameter.consumed.empty()) orphans.insert(parameter.shape);
  }
  std::vector<std::string> names;
  for (const Gradients::Parameter& parameter : gradients.parameters) {
    if (!parameter.optimizer.empty() || !parameter.requires_grad || !parameter.gradient_seen) {
      continue;
    }
    const auto orphan = orphans.find(parameter.shape);
    if (orphan == orphans.end()) continue;
    orphans.erase(orphan);
    names.push_back(parameter.name);
  }
  return names;
}

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
  const std::vector<std::string> replaced = Replaced(gradients);
  if (!replaced.empty()) {
    verdict.findings.push_back(FindingAt(
        replaced, Severity::kError,
        StrCat("An optimizer holds ", Counted(static_cast<int64_t>(replaced.size()), "tensor"),
               " that belong to no model that runs and never get a gradient, while ",
               Listed(replaced), " of the same shape are in no optimizer."),
        gradients));
    return verdict;
  }
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

Evidence HeadIn(std::string_view optimizer, bool orphan) {
  RunBuilder run = TwoLayers();
  run.Attribute("parameter", "head.weight", "optimizer", optimizer);
  run.Attribute("parameter", "head.weight", "gradient_seen", "1");
  if (orphan) {
    run.Attribute("parameter", "optimizer#0/group#0/1", "optimizer", "optimizer#0/group#0");
    run.Attribute("parameter", "optimizer#0/group#0/1", "orphan", "1");
    run.Attribute("parameter", "optimizer#0/group#0/1", "shape", "10x64");
  }
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
          "A parameter outside the optimizer keeps its initial value although it looks trainable; "
          "an optimizer that holds old tensors trains nothing at all.",
      .method =
          "The parameters of every model that runs, against the groups of all optimizers. "
          "Untracked parameters beside an old tensor of the same shape that never gets a "
          "gradient are an error, others a warning.",
      .fix =
          "Build the optimizer after the model is complete and on its device, from "
          "model.parameters(); use optimizer.add_param_group for parts that are added later, and "
          "requires_grad_(False) for what is to stay frozen.",
      .limits =
          "A model of which no parameter is optimized (target, teacher, loss network) is not "
          "judged. Training a head alone without freezing the rest is legal and a warning.",
      .sources = {"PyTorch documentation of torch.optim: constructing an optimizer",
                  "own reasoning"},
      .covers = {"O03", "O04"},
      .explains = {"capacity/input_independence", "capacity/unfittable_batch"},
      .worst = Severity::kError,
      .live = false,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"all in one group", Expect::kClean,
                    [] { return HeadIn("optimizer#0/group#0", false); }},
                   {"the head is in none", Expect::kFaulty, [] { return HeadIn("", false); }},
                   {"the optimizer holds the old head", Expect::kFaulty,
                    [] { return HeadIn("", true); }}},
  };
}

}  // namespace dlcheck::optimizer

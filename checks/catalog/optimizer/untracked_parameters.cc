#include <set>

#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/findings/parameter_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/gradients/gradients.h"

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
    // A model without optimized parameters is a teacher or a loss network.
    if (parameter.optimizer.empty() && parameter.gradient_seen &&
        (parameter.part_of_trained || tracked_models.contains(parameter.model))) {
      untracked.push_back(parameter.name);
    }
  }
  if (judged == 0) return absl::NotFoundError("no trainable parameter was seen");
  Verdict verdict{.findings = {}, .judged = JudgedParameters(judged, gradients)};
  if (!untracked.empty()) {
    verdict.findings.push_back(FindingAt(
        untracked, Severity::kWarning,
        StrCat(untracked.size(), " of ", judged, " trainable parameters (", Listed(untracked),
               ") receive gradients but are in no optimizer, so they keep their initial values."),
        gradients));
  }
  return verdict;
}

// A part that is called by itself, of a module whose other part is optimized.
Evidence PartWithoutOptimizer(bool part_of_trained) {
  RunBuilder run = TwoLayers();
  run.Ordinal(1).Attribute("parameter", "scale", "gradient_seen", "1");
  if (part_of_trained) run.Attribute("model", "", "part_of_trained", "1");
  run.Ordinal(0);
  for (int step = 0; step < 8; ++step) AddStep(run, {.held = {}});
  return PlainOnly(run);
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
      .title = "Trainable parameters are in no optimizer",
      .promise = "Every trainable parameter that receives gradients is in an optimizer.",
      .why =
          "A parameter outside the optimizer keeps its initial value although it looks trainable.",
      .method =
          "Compares the parameters of every model that runs with the parameter groups of all "
          "optimizers. Parts that a method of a module calls belong to that module. In C++, so do "
          "weights of layers that no module has and that stay the same in three steps.",
      .fix =
          "Build the optimizer from model.parameters() after the model is complete and on its "
          "device. Call optimizer.add_param_group() for parts added later, and "
          "requires_grad_(False) for frozen parts. In C++, give each layer to register_module().",
      .limits = {.needs = "A model with at least one optimized parameter.",
                 .silent_when =
                     "No parameter of the model is optimized, as in a target network, "
                     "teacher or loss network. In C++, a network in no optimizer that takes "
                     "outputs and data alike is such a one. Tensors of an earlier model in the "
                     "optimizer belong to optimizer/stale_parameters.",
                 .severity =
                     "Always a warning: training only a head without freezing the rest is allowed.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(optimizer = torch.optim.AdamW(model.encoder.parameters())
loss = criterion(model(x), y)
loss.backward()
optimizer.step()  # model.head is never updated)",
                 .good = R"(optimizer = torch.optim.AdamW(model.parameters())
loss = criterion(model(x), y)
loss.backward()
optimizer.step())"},
      .cpp = {.bad = R"(struct NetImpl : torch::nn::Module {
  NetImpl() : body(64, 32), head(32, 10) {
    register_module("body", body);
  }  // parameters() has no head
  torch::nn::Linear body, head;
};)",
              .good = R"(struct NetImpl : torch::nn::Module {
  NetImpl() : body(64, 32), head(32, 10) {
    register_module("body", body);
    register_module("head", head);
  }
  torch::nn::Linear body, head;
};)"},
      .sources = {"PyTorch documentation of torch.optim: constructing an optimizer",
                  "own reasoning"},
      .covers = {"missing-or-repeated-parameter", "unregistered-parameters",
                 "cpp-unregistered-module"},
      .explains = {"learnability/input_independence", "learnability/cannot_overfit_one_batch",
                   "learnability/no_better_than_constant"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kOptimizerBuilt,
      .also_at = {Event::kModuleBuilt},
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"all in one group", Expect::kClean,
                    [] { return HeadIn("optimizer#0/group#0"); }},
                   {"the head is in no optimizer", Expect::kWarning, [] { return HeadIn(""); }},
                   {"another model without an optimizer", Expect::kClean,
                    [] { return PartWithoutOptimizer(false); }},
                   {"a part without an optimizer, called by itself", Expect::kWarning,
                    [] { return PartWithoutOptimizer(true); }}},
  };
}

}  // namespace dlcheck::optimizer

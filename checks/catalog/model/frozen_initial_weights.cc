#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::model {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kFrozenAsMade>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kWarning,
        StrCat(static_cast<int>(100 * statement.value), " % of the parameters of ", statement.name,
               " are frozen as they were drawn: nobody trained or loaded them.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kFrozenAsMade, "model", "Net", value, aux, times);
}

}  // namespace

Check FrozenInitialWeights() {
  return {
      .id = "model/frozen_initial_weights",
      .title = "Most weights are frozen at their initialization",
      .promise = "Frozen weights were trained or loaded before.",
      .why =
          "Layers that were never trained give random features. A backbone whose checkpoint "
          "was not loaded looks exactly so.",
      .method =
          "Looks at frozen Linear and convolution layers: whether their weights still lie "
          "evenly within the bounds that PyTorch draws them from.",
      .fix = "Load the weights before you freeze them, or leave requires_grad on.",
      .limits = {.needs = "A program with an optimizer step.",
                 .silent_when = "Fewer than half of the parameters are such weights. Trained "
                                "weights leave these bounds.",
                 .severity = "Always a warning: random features may be meant.",
                 .blind_spots = "Weights that the program initialized by itself.",
                 .sensitivity = ""},
      .python = {.bad = R"(backbone = ResNet()
for p in backbone.parameters():
    p.requires_grad = False)",
                 .good = R"(backbone = ResNet()
backbone.load_state_dict(torch.load("backbone.pt"))
for p in backbone.parameters():
    p.requires_grad = False)"},
      .cpp = {.bad = R"(ResNet backbone;
for (auto& p : backbone->parameters()) p.set_requires_grad(false);)",
              .good = R"(ResNet backbone;
torch::load(backbone, "backbone.pt");
for (auto& p : backbone->parameters()) p.set_requires_grad(false);)"},
      .sources = {"PyTorch source of Linear.reset_parameters: uniform within 1 / sqrt(inputs)"},
      .covers = {"too-much-frozen"},
      .explains = {"learnability/no_better_than_constant"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kModuleBuilt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"trained or loaded weights", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"random weights", Expect::kWarning, [] { return With(0.9, 5000); }}},
  };
}

}  // namespace dlcheck::model

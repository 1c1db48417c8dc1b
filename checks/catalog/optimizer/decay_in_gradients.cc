#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::optimizer {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kDecayInGradients>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, statement.aux > 0 ? Severity::kWarning : Severity::kNote,
                         StrCat("The weights times ", Short(statement.value),
                                " were added to the gradients that an adaptive optimizer uses.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kDecayInGradients, "optimizer", "", value, aux, times);
}

}  // namespace

Check DecayInGradients() {
  return {
      .id = "optimizer/decay_in_gradients",
      .title = "Weight decay is added to the gradients of Adam",
      .promise =
          "An optimizer that divides by the size of the gradients gets no weight decay "
          "with them.",
      .why =
          "Adam divides the decay by the size of the gradients, so weights with large "
          "gradients hardly decay.",
      .method =
          "Compares the gradients after a backward with those that a step uses. Reports a "
          "difference that is the weights times one number.",
      .fix = "Use the weight_decay of AdamW.",
      .limits = {.needs = "A program with an optimizer step.",
                 .silent_when = "The gradients are clipped in between, or the optimizer is SGD.",
                 .severity = "A warning with AdamW, whose own decay differs, and a note otherwise.",
                 .blind_spots = "A penalty in the loss, and the weight_decay of Adam itself.",
                 .sensitivity = ""},
      .python = {.bad = R"(for p in model.parameters():
    p.grad += 1e-2 * p
optimizer.step()  # Adam)",
                 .good = R"(optimizer = torch.optim.AdamW(model.parameters(), weight_decay=1e-2))"},
      .cpp = {.bad = R"(for (auto& p : model->parameters()) p.mutable_grad().add_(p.detach(), 1e-2);
optimizer.step();  // Adam)",
              .good = R"(auto options = torch::optim::AdamWOptions(1e-3).weight_decay(1e-2);
torch::optim::AdamW optimizer(model->parameters(), options);)"},
      .sources = {"Loshchilov and Hutter 2019: decoupled weight decay"},
      .covers = {"coupled-weight-decay"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"gradients as they were", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"added before Adam", Expect::kNote, [] { return With(0.01, 0); }},
                   {"added before AdamW", Expect::kWarning, [] { return With(0.01, 1); }}},
  };
}

}  // namespace dlcheck::optimizer

#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::training_loop {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kConstantTerm>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kNote,
                         "Gradients were made without create_graph, and the "
                         "loss has a term without a "
                         "gradient: a penalty on these gradients trains nothing."));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kConstantTerm, "loss", "loss", value, aux, times);
}

}  // namespace

Check ConstantPenalty() {
  return {
      .id = "training_loop/constant_penalty",
      .title = "A gradient penalty is a constant",
      .promise = "Each term of a loss has a gradient.",
      .why =
          "A penalty that is a constant changes the loss and no weight. The network trains "
          "as if the penalty were not there.",
      .method =
          "Watches torch.autograd.grad in training, of outputs by inputs. Reports gradients "
          "without a graph in three steps whose loss also has a term without a gradient.",
      .fix = "Pass create_graph=True to torch.autograd.grad.",
      .limits = {.needs = "A program that calls torch.autograd.grad with gradients enabled.",
                 .silent_when = "The gradients are those of a loss function, as for an attack.",
                 .severity = "Always a note: the two may have nothing to do with each other.",
                 .blind_spots = "A penalty that is computed by torch.func.",
                 .sensitivity = ""},
      .python = {.bad = R"(g, = torch.autograd.grad(D(x).sum(), x)
loss = loss + 10 * (g.norm(dim=1) - 1).square().mean())",
                 .good = R"(g, = torch.autograd.grad(D(x).sum(), x, create_graph=True)
loss = loss + 10 * (g.norm(dim=1) - 1).square().mean())"},
      .cpp =
          {.bad = R"(auto g = torch::autograd::grad({D(x).sum()}, {x})[0];
loss = loss + 10 * (g.norm(2, 1) - 1).square().mean();)",
           .good =
               R"(auto g = torch::autograd::grad({D(x).sum()}, {x}, {}, true, /*create_graph=*/true)[0];
loss = loss + 10 * (g.norm(2, 1) - 1).square().mean();)"},
      .sources = {"PyTorch documentation of torch.autograd.grad: create_graph"},
      .covers = {"ineffective-regularizer"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"a penalty with a graph", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"a penalty without one", Expect::kNote, [] { return With(1, 0); }}},
  };
}

}  // namespace dlcheck::training_loop

#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::training_loop {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kNormOverBatch>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kWarning,
                         StrCat("A penalty takes one norm of the gradients of ", statement.value,
                                " samples together, instead of one for each.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kNormOverBatch, "operation", "loss", value, aux, times);
}

}  // namespace

Check NormOverBatch() {
  return {
      .id = "training_loop/norm_over_batch",
      .title = "A gradient penalty takes one norm of the batch",
      .promise = "A gradient penalty has a norm for each sample.",
      .why =
          "The norm over the batch grows with its size. A norm of 1 for all together allows "
          "each sample almost no slope.",
      .method =
          "Follows in the autograd graph what torch.autograd.grad gave with "
          "create_graph=True to a norm without axes.",
      .fix = "Take the norm over the axes of a sample: g.flatten(1).norm(dim=1).",
      .limits = {.needs = "A program that calls torch.autograd.grad with create_graph=True.",
                 .silent_when = "",
                 .severity = "Always a warning.",
                 .blind_spots = "Norms that are written by hand.",
                 .sensitivity = ""},
      .python = {.bad = R"(g, = torch.autograd.grad(D(x).sum(), x, create_graph=True)
penalty = (g.norm() - 1).square())",
                 .good = R"(g, = torch.autograd.grad(D(x).sum(), x, create_graph=True)
penalty = (g.flatten(1).norm(dim=1) - 1).square().mean())"},
      .cpp =
          {.bad =
               R"(auto g = torch::autograd::grad({D(x).sum()}, {x}, {}, true, /*create_graph=*/true)[0];
auto penalty = (g.norm() - 1).square();)",
           .good =
               R"(auto g = torch::autograd::grad({D(x).sum()}, {x}, {}, true, /*create_graph=*/true)[0];
auto penalty = (g.flatten(1).norm(2, 1) - 1).square().mean();)"},
      .sources = {"Gulrajani et al. 2017: the penalty is an expectation over samples"},
      .covers = {"wrong-reduction-axis"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"a norm for each sample", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"one norm for all", Expect::kWarning, [] { return With(128, 0); }}},
  };
}

}  // namespace dlcheck::training_loop

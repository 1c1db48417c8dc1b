#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::model {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kMaskParameter>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kWarning,
        StrCat(statement.name, " holds a mask and is a parameter: each optimizer step changes it."),
        statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kMaskParameter, "parameter", "trunk.mask", value, aux, times);
}

}  // namespace

Check MaskAsParameter() {
  return {
      .id = "model/mask_as_parameter",
      .title = "A mask is a trained parameter",
      .promise = "A mask is a buffer, and the optimizer does not move it.",
      .why =
          "The optimizer changes a mask that is a parameter, and weight decay shrinks it. It "
          "then masks less with each step.",
      .method =
          "Looks at the values of each parameter when its model is first called. Reports "
          "one of only 0 and minus infinity, or one that is a triangle of ones.",
      .fix = "Register it with self.register_buffer(\"mask\", mask).",
      .limits = {.needs = "A program, and parameters on the CPU or CUDA.",
                 .silent_when = "The parameter has requires_grad=False.",
                 .severity = "Always a warning: a parameter may begin as a triangle of ones on "
                             "purpose.",
                 .blind_spots = "Masks of another pattern, and position tables.",
                 .sensitivity = ""},
      .python = {.bad = R"(mask = torch.tril(torch.ones(n, n))
self.mask = nn.Parameter(mask))",
                 .good = R"(mask = torch.tril(torch.ones(n, n))
self.register_buffer("mask", mask))"},
      .cpp = {.bad = R"(mask = register_parameter("mask", torch::ones({n, n}).tril());)",
              .good = R"(mask = register_buffer("mask", torch::ones({n, n}).tril());)"},
      .sources = {"PyTorch documentation of torch.nn.Module.register_buffer"},
      .covers = {"mask-stored-as-parameter"},
      .explains = {"attention/causal_mask_leak", "numerics/nonfinite_values"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kModuleBuilt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"no such parameter", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"a mask among the parameters", Expect::kWarning, [] { return With(1, 0); }}},
  };
}

}  // namespace dlcheck::model

#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::numerics {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kChangedPrecision>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kWarning,
                         StrCat("An option changed after the first step: ", statement.name, ".")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kChangedPrecision, "option", "precision: highest, then medium", value,
                 aux, times);
}

}  // namespace

Check ChangedMatmulPrecision() {
  return {
      .id = "numerics/changed_matmul_precision",
      .title = "The precision of matmul changes during the run",
      .promise = "Matrix products have one precision from the first step to the last.",
      .why =
          "A library or a helper may set an option of the whole process. From then on, "
          "training is less exact than before.",
      .method =
          "Compares the options for matrix products after the first step with those at the "
          "end of the run.",
      .fix =
          "Set torch.set_float32_matmul_precision() once, before training, and restore it "
          "where a helper changes it.",
      .limits = {.needs = "A program with an optimizer step.",
                 .silent_when = "The option is the same at the end as at the first step.",
                 .severity = "Always a warning.",
                 .blind_spots = "An option that is set before the first step, or set back before "
                                "the end.",
                 .sensitivity = ""},
      .python = {.bad = R"(def evaluate(model):
    torch.set_float32_matmul_precision("medium")
    return model(x_test))",
                 .good = R"(torch.set_float32_matmul_precision("high")
train(model)
evaluate(model))"},
      .cpp =
          {.bad = R"(at::globalContext().setFloat32MatmulPrecision("medium");  // in each evaluation
Evaluate(model, *val_loader);)",
           .good =
               R"(at::globalContext().setFloat32MatmulPrecision("high");  // once, before training
TrainOneEpoch(model, *loader, optimizer);)"},
      .sources = {"PyTorch documentation of torch.set_float32_matmul_precision"},
      .covers = {"changed-matmul-precision"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"options that stay", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"an option that changed", Expect::kWarning, [] { return With(1, 0); }}},
  };
}

}  // namespace dlcheck::numerics

#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::optimizer {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kFrozenByName>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    const std::string count = Counted(static_cast<int64_t>(statement.value), "parameter");
    const bool of_module = statement.aux > 0;
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kWarning,
        StrCat("The program sets ", statement.name,
               of_module ? " of a module to False, which PyTorch does not read: "
                         : " of parameters to False, which PyTorch does not read: ",
               count, statement.value == 1 ? " is" : " are", " trained all the same."),
        statement.name));
  }
  return verdict;
}

Evidence With(double of_module, int times = 1) {
  return Stating(Quantity::kFrozenByName, "attribute",
                 of_module > 0 ? "requires_grad" : "require_grad", 8, of_module, times);
}

}  // namespace

Check FreezeWithoutEffect() {
  return {
      .id = "optimizer/freeze_without_effect",
      .title = "Layers that were to be frozen are trained",
      .promise = "A layer that a program freezes is not trained.",
      .why = "The weights of a pretrained part change, and memory and time are spent on them.",
      .method =
          "Looks for requires_grad among the attributes of modules, and for misspelled forms of it "
          "among those of parameters. Reports those whose parameters still require gradients.",
      .fix = "Call module.requires_grad_(False), or set requires_grad = False for each parameter.",
      .limits = {.needs = "A Python program.",
                 .silent_when = "The parameters do not require gradients.",
                 .severity = "Always a warning.",
                 .blind_spots = "Loops that freeze the wrong layers.",
                 .sensitivity = ""},
      .python = {.bad = R"(model.backbone.requires_grad = False  # an attribute of the module
optimizer = torch.optim.Adam(model.parameters()))",
                 .good = R"(model.backbone.requires_grad_(False)
optimizer = torch.optim.Adam(model.head.parameters()))"},
      .cpp = {},
      .sources = {"PyTorch documentation: Module.requires_grad_()"},
      .covers = {"freezing-without-effect"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"frozen layers", Expect::kClean, [] { return With(1, 0); }},
                   {"an attribute of a module", Expect::kWarning, [] { return With(1); }},
                   {"another spelling", Expect::kWarning, [] { return With(0); }}},
  };
}

}  // namespace dlcheck::optimizer

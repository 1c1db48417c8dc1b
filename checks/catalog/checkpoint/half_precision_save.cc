#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::checkpoint {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kLoweredWeights>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kWarning,
        StrCat(statement.name, " holds the optimizer, and weights in half precision.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kLoweredWeights, "file", "last.pt", value, aux, times);
}

}  // namespace

Check HalfPrecisionSave() {
  return {
      .id = "checkpoint/half_precision_save",
      .title = "A resume file holds half-precision weights",
      .promise = "A file with the state of the optimizer holds the weights as they are.",
      .why =
          "The run that resumes starts from rounded weights. Small updates since the last step "
          "are lost at each resume.",
      .method =
          "Compares the dtype of the weights in a saved file with that of the weights of "
          "the model, where the file also holds an optimizer.",
      .fix =
          "Save model.state_dict() as it is, and export a copy in half precision to another "
          "file.",
      .limits = {.needs = "A Python program that saves weights and optimizer in one dictionary.",
                 .silent_when = "The file holds no optimizer: that is an export.",
                 .severity = "Always a warning: the loss of digits may be accepted.",
                 .blind_spots = "Files by other functions than torch.save.",
                 .sensitivity = ""},
      .python = {.bad = R"(weights = {k: v.half() for k, v in model.state_dict().items()}
torch.save({"model": weights, "optimizer": optimizer.state_dict()}, file))",
                 .good = R"(torch.save({"model": model.state_dict(),
            "optimizer": optimizer.state_dict()}, file))"},
      .cpp = {},
      .sources = {"own reasoning: float16 keeps 11 of 24 bits"},
      .covers = {"precision-lost-in-checkpoint"},
      .explains = {"checkpoint/inexact_resume"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"weights as they are", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"rounded weights", Expect::kWarning, [] { return With(1, 0); }}},
  };
}

}  // namespace dlcheck::checkpoint

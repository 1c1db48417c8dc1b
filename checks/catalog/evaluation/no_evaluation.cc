#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::evaluation {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kNoEvaluation>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kNote,
        StrCat("The program trained for ", Counted(static_cast<int64_t>(statement.value), "step"),
               " with ", statement.name, ", and no evaluation was seen.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kNoEvaluation, "loss", "cross_entropy", value, aux, times);
}

}  // namespace

Check NoEvaluation() {
  return {
      .id = "evaluation/no_evaluation",
      .title = "The program never evaluates its model",
      .promise = "A program evaluates the model that it trains.",
      .why = "The training loss alone does not say whether a model works on new data.",
      .method =
          "Counts evaluations: forwards without gradients, and forwards in evaluation mode "
          "that no backward follows.",
      .fix =
          "Keep a part of the data away from training, and evaluate the model on it now and "
          "then.",
      .limits = {.needs =
                     "A Python program, or a C++ program that is watched as it is. It trains a "
                     "classifier for 100 steps.",
                 .silent_when = "Some forward has no backward: it may be an evaluation.",
                 .severity = "Always a note: another program may evaluate.",
                 .blind_spots = "Evaluations in training mode and with gradients, after the last "
                                "step that is recorded.",
                 .sensitivity = ""},
      .python = {.bad = R"(for x, y in train:
    step(model, x, y)
torch.save(model.state_dict(), "model.pt"))",
                 .good = R"(for x, y in train:
    step(model, x, y)
print(accuracy(model, test)))"},
      .cpp = {.bad = R"(TrainOneEpoch(model, *loader, optimizer);
torch::save(model, "model.pt");)",
              .good = R"(TrainOneEpoch(model, *loader, optimizer);
std::cout << Evaluate(model, *test_loader);)"},
      .sources = {"own reasoning: what nobody measures nobody knows"},
      .covers = {"no-validation-set"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"an evaluation", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"none", Expect::kNote, [] { return With(500, 0); }}},
  };
}

}  // namespace dlcheck::evaluation

#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::evaluation {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kRedrawnRows>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kWarning,
                         StrCat(statement.value, " of ", statement.aux,
                                " inputs of an evaluation were not in the evaluation before, from "
                                "the same data set.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kRedrawnRows, "model", "net", value, aux, times);
}

}  // namespace

Check RedrawnData() {
  return {
      .id = "evaluation/redrawn_data",
      .title = "Evaluation data change between evaluations",
      .promise = "An evaluation in a fixed order gets the same samples as the evaluation before.",
      .why =
          "Scores of two evaluations then differ although the model is the same, and the best "
          "checkpoint is the luckiest one.",
      .method =
          "Compares two evaluations in a row that one loader took from a data set in a fixed "
          "order. "
          "The targets of the first batch must be equal, and the inputs must differ.",
      .fix =
          "Leave random transforms out of the evaluation data, or draw the data once and keep "
          "them.",
      .limits = {.needs = "A program that evaluates with a DataLoader, and batches on the "
                          "CPU or CUDA.",
                 .silent_when = "The loader shuffles or streams, fewer than half of the inputs "
                                "differ, or the targets differ, too: then the data are new.",
                 .severity = "Always a warning: random transforms may be meant.",
                 .blind_spots = "Data that are drawn outside of a data set.",
                 .sensitivity = ""},
      .python = {.bad = R"(test = ImageFolder("test", transform=RandomResizedCrop(224))
score = evaluate(model, DataLoader(test, 64)))",
                 .good = R"(test = ImageFolder("test", transform=CenterCrop(224))
score = evaluate(model, DataLoader(test, 64)))"},
      .cpp = {.bad = R"(auto test = RandomCrop(test_images, 24);  // drawn anew in each evaluation
Evaluate(model, test, test_labels);)",
              .good = R"(auto test = CenterCrop(test_images, 24);
Evaluate(model, test, test_labels);)"},
      .sources = {"own reasoning: two scores compare where the data are the same"},
      .covers = {"augmented-evaluation"},
      .explains = {"evaluation/nondeterministic", "evaluation/draws_random_numbers"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kEvaluationForward,
      .also_at = {Event::kFetched},
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"the same rows", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"other rows each time", Expect::kWarning, [] { return With(300, 300); }}},
  };
}

}  // namespace dlcheck::evaluation

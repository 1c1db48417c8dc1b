#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::evaluation {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kScoreThreshold>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kWarning,
        StrCat("Predictions compare the scores of the model with 0.5, or round them. ",
               statement.name, " takes these scores as logits, whose border is 0."),
        statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kScoreThreshold, "loss", "binary_cross_entropy_with_logits", value, aux,
                 times);
}

}  // namespace

Check ThresholdOnScores() {
  return {
      .id = "evaluation/threshold_on_scores",
      .title = "Raw scores are compared with 0.5",
      .promise = "Predictions take the border between the classes where the loss has it.",
      .why =
          "A logit of 0.5 is a probability of 0.62. The measured accuracy is that of "
          "another classifier.",
      .method =
          "Reads from the program's source what is compared with 0.5 or rounded, where "
          "binary_cross_entropy_with_logits takes the same outputs.",
      .fix = "Compare the scores with 0, or their sigmoid with 0.5.",
      .limits =
          {.needs = "A Python program whose evaluation runs under torch.no_grad() and gives scores "
                    "outside 0 to 1.",
           .silent_when = "The evaluation gives probabilities.",
           .severity = "Always a warning.",
           .blind_spots = "Thresholds that are variables, or stand in another file than the loss.",
           .sensitivity = ""},
      .python = {.bad = R"(loss = F.binary_cross_entropy_with_logits(model(x), y)
...
right = (model(x_val) > 0.5) == y_val.bool())",
                 .good = R"(loss = F.binary_cross_entropy_with_logits(model(x), y)
...
right = (model(x_val) > 0) == y_val.bool())"},
      .cpp = {},
      .sources = {"own reasoning: the sigmoid of 0 is 0.5"},
      .covers = {"scores-compared-with-half"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kEvaluationForward,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"no such line", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"a comparison", Expect::kWarning, [] { return With(0.5, 0); }}},
  };
}

}  // namespace dlcheck::evaluation

#include <cmath>

#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::evaluation {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kEvaluationTargets>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    constexpr double kFactor = 8;
    const bool wide = statement.value > kFactor || statement.value < 1 / kFactor;
    if (!wide && std::abs(statement.aux) < kFactor) continue;
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kNote,
        StrCat("The spread of the targets of ", statement.name, " in an evaluation is ",
               Short(statement.value), " times that in training, and their mean is ",
               Short(statement.aux), " standard deviations away."),
        statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kEvaluationTargets, "loss", "mse_loss", value, aux, times);
}

}  // namespace

Check DifferentTargetScale() {
  return {
      .id = "evaluation/different_target_scale",
      .title = "Evaluation targets have another scale",
      .promise = "A loss is given targets of one scale in training and in an evaluation.",
      .why =
          "The evaluation compares normalized outputs with raw targets, or the reverse. Its "
          "loss says nothing about the model.",
      .method =
          "Compares mean and standard deviation of the targets of mse_loss, l1_loss, "
          "smooth_l1_loss and huber_loss in training with those in evaluations.",
      .fix =
          "Normalize the targets of the evaluation by the statistics of the training "
          "targets, or convert the outputs back.",
      .limits = {.needs = "A program, 256 targets in training and 16 in an evaluation, on "
                          "the CPU or CUDA.",
                 .silent_when = "Neither differs by a factor of 8.",
                 .severity = "Always a note: one function may compare different things.",
                 .blind_spots = "Metrics that are written by hand.",
                 .sensitivity = ""},
      .python = {.bad = R"(loss = F.mse_loss(model(x), (y - mean) / std)
...
with torch.no_grad():
    error = F.mse_loss(model(x_val), y_val))",
                 .good = R"(loss = F.mse_loss(model(x), (y - mean) / std)
...
with torch.no_grad():
    error = F.mse_loss(model(x_val) * std + mean, y_val))"},
      .cpp = {.bad = R"(auto loss = F::mse_loss(model->forward(x), (y - mean) / deviation);
auto error = F::mse_loss(model->forward(x_val), y_val);)",
              .good = R"(auto loss = F::mse_loss(model->forward(x), (y - mean) / deviation);
auto error = F::mse_loss(model->forward(x_val) * deviation + mean, y_val);)"},
      .sources = {"own reasoning"},
      .covers = {"mismatched-eval-transforms"},
      .explains = {"evaluation/rising_loss"},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kEvaluationForward,
      .also_at = {Event::kFetched},
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"one scale", Expect::kClean, [] { return With(1.1, 0.2); }},
                   {"raw targets", Expect::kNote, [] { return With(130, 319); }}},
  };
}

}  // namespace dlcheck::evaluation

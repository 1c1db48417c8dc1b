#include "checks/catalog/examples/evaluation_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/evaluation/evaluations.h"

namespace dlcheck::evaluation {
namespace {

constexpr Setting kBatches{.name = "batches",
                           .value = 4,
                           .low = 1,
                           .high = 1e6,
                           .unit = "batches",
                           .meaning = "fewest batches of an evaluation that is judged",
                           .source = "own reasoning: fewer batches cost little"};
constexpr Setting kEvaluations{
    .name = "evaluations",
    .value = 2,
    .low = 1,
    .high = 1e6,
    .unit = "evaluations",
    .meaning = "fewest evaluations for a finding",
    .source = "own reasoning: one evaluation may use gradients on purpose"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const Evaluations& evaluations) {
  int64_t judged = 0, batches = 0, first = 0, last = 0;
  bool all = true, in_training_mode = true;
  for (const Evaluations::Evaluation& evaluation : evaluations.evaluations) {
    if (static_cast<double>(evaluation.batches) < settings[kBatches]) continue;
    if (judged++ == 0) first = evaluation.step;
    last = evaluation.step;
    batches += evaluation.batches;
    all = all && evaluation.with_gradients == evaluation.batches;
    in_training_mode = in_training_mode && evaluation.in_training_mode == evaluation.batches;
  }
  if (static_cast<double>(judged) < settings[kEvaluations]) {
    return absl::NotFoundError(StrCat("only ", Counted(judged, "evaluation"), " of ",
                                      settings[kBatches], " batches or more"));
  }
  Verdict verdict{.findings = {}, .judged = Counted(judged, "evaluation")};
  if (!all) return verdict;
  verdict.findings.push_back(
      {.severity = in_training_mode ? Severity::kNote : Severity::kWarning,
       .message = StrCat("All ", Counted(judged, "evaluation"), " from step ", first,
                         " ran the model with gradients enabled, in all ", WithCommas(batches),
                         " batches: autograd built graphs that nothing uses."),
       .places = {},
       .first_step = first,
       .last_step = last,
       .count = judged,
       .measured = static_cast<double>(batches),
       .bound = 0});
  return verdict;
}

Evidence Enabled(int batches) {
  return ThreeEvaluations({.batches = 4, .with_gradients = batches});
}

}  // namespace

Check WithoutNoGrad() {
  return {
      .id = "evaluation/without_no_grad",
      .title = "Evaluation runs without torch.no_grad()",
      .promise = "Evaluations run without building an autograd graph.",
      .why =
          "Autograd keeps all activations for a backward call that never comes. Evaluation is "
          "slower and uses the memory of a training step, or more if outputs are collected.",
      .method =
          "Checks at each batch of an evaluation whether gradients are enabled. In evaluation mode "
          "no backward call follows such a batch. In training mode at least five batches in a row "
          "leave graphs that are freed before the next backward call. Reports a run in which all "
          "batches of all evaluations have gradients "
          "enabled.",
      .fix = "Run the evaluation under torch.no_grad() or torch.inference_mode().",
      .limits = {.needs = "Two evaluations of at least four batches.",
                 .silent_when = "Any batch runs without gradients.",
                 .severity = "A warning. A note if all of them ran in training mode, as an agent "
                             "does that acts without torch.no_grad().",
                 .blind_spots = "Models whose outputs are derivatives, such as forces from an "
                                "energy, need gradients in evaluation. Ignore the finding there.",
                 .sensitivity = ""},
      .python = {.bad = R"(model.eval()
for x, y in val_loader:
    loss += criterion(model(x), y))",
                 .good = R"(model.eval()
with torch.no_grad():
    for x, y in val_loader:
        loss += criterion(model(x), y))"},
      .cpp = {.bad = R"(model->eval();
for (auto& batch : *val_loader) {
  loss += criterion(model->forward(batch.data), batch.target);
})",
              .good = R"(model->eval();
torch::NoGradGuard no_grad;
for (auto& batch : *val_loader) {
  loss += criterion(model->forward(batch.data), batch.target);
})"},
      .sources = {"PyTorch documentation of torch.no_grad", "own reasoning"},
      .covers = {"graph-kept-in-evaluation"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kEvaluationForward,
      .also_at = {Event::kEvaluationBegan},
      .settings = {kBatches, kEvaluations},
      .judgement = Reads<&Judge>(),
      .examples = {{"one batch without gradients", Expect::kClean, [] { return Enabled(3); }},
                   {"every batch with gradients", Expect::kWarning, [] { return Enabled(4); }},
                   {"every batch with gradients, in training mode", Expect::kNote,
                    [] {
                      return ThreeEvaluations(
                          {.in_training_mode = 3, .batches = 4, .with_gradients = 4});
                    }}},
  };
}

}  // namespace dlcheck::evaluation

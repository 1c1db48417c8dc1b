#include "checks/catalog/evaluation_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/evaluations.h"

namespace dlcheck::evaluation {
namespace {

constexpr Setting kBatches{.name = "batches",
                           .value = 4,
                           .low = 1,
                           .high = 1e6,
                           .unit = "batches",
                           .meaning = "fewest batches of an evaluation that is judged",
                           .source = "own reasoning: the cost of fewer is not worth a word"};
constexpr Setting kEvaluations{.name = "evaluations",
                               .value = 2,
                               .low = 1,
                               .high = 1e6,
                               .unit = "evaluations",
                               .meaning = "fewest evaluations that a finding rests on",
                               .source = "own reasoning: one may look at gradients on purpose"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const Evaluations& evaluations) {
  int64_t judged = 0, batches = 0, first = 0, last = 0;
  bool all = true;
  for (const Evaluations::Evaluation& evaluation : evaluations.evaluations) {
    if (static_cast<double>(evaluation.batches) < settings[kBatches]) continue;
    if (judged++ == 0) first = evaluation.step;
    last = evaluation.step;
    batches += evaluation.batches;
    all = all && evaluation.with_gradients == evaluation.batches;
  }
  if (static_cast<double>(judged) < settings[kEvaluations]) {
    return absl::NotFoundError(StrCat("only ", Counted(judged, "evaluation"), " of ",
                                      settings[kBatches], " batches or more"));
  }
  Verdict verdict{.findings = {}, .judged = Counted(judged, "evaluation")};
  if (!all) return verdict;
  verdict.findings.push_back(
      {.severity = Severity::kWarning,
       .message = StrCat("All ", Counted(judged, "evaluation"), " from step ", first,
                         " ran the model in evaluation mode with gradients enabled, in all ",
                         WithCommas(batches), " batches: a graph is built that nothing uses."),
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
      .promise = "Evaluations run without building a graph.",
      .why =
          "All activations are kept for a backward call that never comes: evaluation is slower "
          "and takes the memory of a training step, or more where outputs are collected.",
      .method =
          "Whether gradients were enabled at each batch of an evaluation in evaluation mode that "
          "no backward call followed. All batches of all evaluations have to be.",
      .fix = "Put the evaluation under torch.no_grad() or torch.inference_mode().",
      .limits =
          "Evaluations of few batches are not judged. A model whose outputs are themselves "
          "derivatives, such as forces from an energy, needs gradients there: ignore it then.",
      .sources = {"PyTorch documentation of torch.no_grad", "own reasoning"},
      .covers = {"P03"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kEvaluationForward,
      .settings = {kBatches, kEvaluations},
      .judgement = Reads<&Judge>(),
      .examples = {{"all but one batch without", Expect::kClean, [] { return Enabled(3); }},
                   {"every batch with", Expect::kFaulty, [] { return Enabled(4); }}},
  };
}

}  // namespace dlcheck::evaluation

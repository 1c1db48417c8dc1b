#include "reference/training/evaluate.h"

#include <algorithm>

#include "reference/precision/autocast.h"
#include "reference/training/window.h"

namespace dlcheck::reference {
namespace {

LossOptions PlainLoss(LossOptions plain) {
  plain.label_smoothing = 0;
  plain.z_loss = 0;
  plain.class_weights = torch::Tensor();
  plain.unit = LossOptions::Unit::kToken;
  plain.deviation = LossDeviation::kNone;
  return plain;
}

struct Sums {
  double loss = 0, count = 0;
  double correct = 0, targets = 0;
};

void Add(const LossOptions& plain, const torch::Tensor& outputs, const torch::Tensor& targets,
         Sums& sums) {
  const LossSum loss = SumOfLoss(plain, outputs, targets);
  sums.loss += loss.sum.item<double>();
  sums.count += loss.count;
  if (targets.is_floating_point()) return;  // none of them is right or wrong
  // Only losses of classes know targets that do not count.
  const bool ignores =
      plain.kind == LossOptions::Kind::kCrossEntropy || plain.kind == LossOptions::Kind::kFocal;
  const torch::Tensor counted =
      ignores ? targets != plain.ignore_index : torch::ones_like(targets, torch::kBool);
  sums.correct +=
      ScoresOf(plain, outputs).argmax(-1).eq(targets).logical_and(counted).sum().item<double>();
  sums.targets += counted.sum().item<double>();
}

// Every rank takes its share of each batch.
Sums EvaluateBatches(Training& training, const Source& source, int64_t samples, bool is_told) {
  const AutocastGuard autocast(training.device.type(), training.autocast);
  const LossOptions plain = PlainLoss(training.loss);
  const int64_t batch_size = training.plan.recipe.batch_size;
  const Ranks& ranks = training.distributed.ranks;
  Sums sums;
  for (int64_t first = 0; first < samples; first += batch_size) {
    std::vector<int64_t> rows;
    const int64_t end = std::min(first + batch_size, samples);
    for (int64_t row = first + ranks.rank(); row < end; row += ranks.world()) rows.push_back(row);
    const bool has_share = !rows.empty();
    // Of a model that is shared out the others need what this rank keeps.
    if (!has_share && !training.distributed.sharded_parameters) continue;
    if (!has_share) rows.push_back(first);
    const Batch batch = training.inputs.batches->ForEvaluation(source.Take(rows), rows);
    const torch::Tensor targets = batch.y.to(training.device);
    const torch::Tensor outputs = Forward(training, batch.x.to(training.device));
    if (!has_share) continue;
    if (is_told) Tell(training.observer.evaluation_outputs, ScoresOf(plain, outputs), targets);
    Add(plain, outputs, targets, sums);
  }
  const std::vector<double> all = ranks.Sums({sums.loss, sums.count, sums.correct, sums.targets});
  return {all[0], all[1], all[2], all[3]};
}

Scores MeansOf(Training& training, const Source& source, int64_t samples, bool is_told) {
  ExchangeAverages(training);
  const Sums sums = EvaluateBatches(training, source, samples, is_told);
  ExchangeAverages(training);
  return {sums.loss / sums.count, sums.correct / sums.targets};
}

}  // namespace

void ExchangeAverages(const Training& training) {
  if (training.optimizer->has_averages()) training.optimizer->ExchangeAverages();
  const bool is_late = training.plan.recipe.swa_start > 0;  // nothing is averaged before that
  if (!training.average || (is_late && !training.average->has_updates())) return;
  training.average->Exchange();
  if (training.distributed.sharded_parameters) training.distributed.sharded_parameters->Refresh();
}

Scores EvaluateTestSplit(Training& training) {
  const torch::NoGradGuard no_grad;
  Run(training.plan.phases.evaluation_begins, training);
  const Source& source = *training.inputs.data.test;
  return MeansOf(training, source, source.rows(), /*is_told=*/false);
}

Scores Evaluate(Training& training) {
  const torch::NoGradGuard no_grad;
  Tell(training.observer.evaluation_begins);
  Run(training.plan.phases.evaluation_begins, training);
  const int64_t wanted = training.plan.recipe.evaluate_samples;
  const int64_t rows = training.inputs.data.val->rows();
  const int64_t samples = wanted == 0 ? rows : std::min(wanted, rows);
  const Scores means = MeansOf(training, *training.inputs.data.val, samples, /*is_told=*/true);
  Tell(training.observer.evaluated, means.loss, samples);
  return means;
}

}  // namespace dlcheck::reference

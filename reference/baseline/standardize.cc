#include "reference/baseline/standardize.h"

namespace dlcheck::reference {
namespace {

using torch::Tensor;

struct Moments {
  Tensor mean, deviation;  // that broadcast over a batch
};

// `get` gives the part of a batch.
Moments MomentsOf(const Capture& capture, Tensor Batch::*part, bool by_feature) {
  Tensor sum, squares;
  double count = 0;
  for (const Batch& batch : capture.batches) {
    const Tensor values = (batch.*part).to(at::kDouble);
    const Tensor rows = by_feature ? values : values.reshape({-1, 1});
    count += static_cast<double>(rows.size(0));
    sum = sum.defined() ? sum + rows.sum(0) : rows.sum(0);
    squares = squares.defined() ? squares + rows.square().sum(0) : rows.square().sum(0);
  }
  const Tensor mean = sum / count;
  const Tensor variance = (squares / count - mean.square()).clamp_min(0);
  return {mean, variance.sqrt()};
}

Tensor Scaled(const Tensor& values, const Moments& moments) {
  const Tensor deviation = moments.deviation.masked_fill(moments.deviation.lt(1e-12), 1);
  return ((values.to(at::kDouble) - moments.mean) / deviation).to(at::kFloat);
}

}  // namespace

void Standardize(Capture& capture) {
  if (capture.has_tokens) return;
  const bool are_rows = capture.sample_shape.size() == 1;
  const Moments of_inputs = MomentsOf(capture, &Batch::x, are_rows);
  for (Batch& batch : capture.batches) batch.x = Scaled(batch.x, of_inputs);
  if (!capture.has_numbers) return;
  // One deviation for all numbers of a sample: the program's loss weighs them alike.
  Moments of_targets = MomentsOf(capture, &Batch::y, /*by_feature=*/true);
  of_targets.deviation = of_targets.deviation.square().mean().sqrt();
  for (Batch& batch : capture.batches) batch.y = Scaled(batch.y, of_targets);
  const double variance = of_targets.deviation.square().item<double>();
  for (double& loss : capture.losses) loss /= variance > 0 ? variance : 1;
}

}  // namespace dlcheck::reference

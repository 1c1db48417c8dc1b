#include "reference/data/objective.h"

#include <cmath>
#include <numbers>

#include "reference/data/sample_stream.h"

namespace dlcheck::reference {
namespace {

using torch::Tensor;

constexpr uint32_t kNoise = 2000;  // what is drawn

}  // namespace

Batch TwoViews(const Augmentation& augmentation, const Batch& batch,
               const std::vector<int64_t>& rows, int64_t epoch) {
  const Tensor one = augmentation.Changed(batch, rows, epoch, 1).x,
               other = augmentation.Changed(batch, rows, epoch, 2).x;
  const auto count = static_cast<int64_t>(rows.size());
  return {torch::cat({one, other}), torch::arange(2 * count).add_(count).remainder_(2 * count)};
}

Batch Noised(const Batch& batch, const std::vector<int64_t>& rows, uint64_t seed, int64_t epoch) {
  const Tensor noise = torch::empty_like(batch.x, at::kFloat);
  const Tensor levels = torch::empty({batch.x.size(0), 1, 1, 1});
  auto* to = noise.mutable_data_ptr<float>();
  const int64_t each = batch.x.numel() / batch.x.size(0);
  for (size_t i = 0; i < rows.size(); ++i) {
    SampleStream stream(seed, epoch, rows[i], kNoise);
    levels.mutable_data_ptr<float>()[i] = static_cast<float>(stream.Uniform());
    for (int64_t j = 0; j < each; ++j) *to++ = static_cast<float>(stream.Normal());
  }
  const Tensor angle = levels * (std::numbers::pi / 2);
  const Tensor noised = angle.cos() * batch.x + angle.sin() * noise;
  const Tensor level = levels.expand({-1, 1, batch.x.size(2), batch.x.size(3)});
  return {torch::cat({noised, level}, 1), noise};
}

}  // namespace dlcheck::reference

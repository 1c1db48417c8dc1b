#include "reference/data/data.h"

#include <filesystem>
#include <numeric>
#include <utility>

#include "checks/records/digest.h"
#include "fixtures/read_fixture.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

torch::ScalarType ScalarTypeOf(ElementType type) {
  switch (type) {
    case ElementType::kUint8:
      return torch::kUInt8;
    case ElementType::kInt32:
      return torch::kInt32;
    case ElementType::kUint32:
      return torch::kUInt32;
    case ElementType::kInt64:
      return torch::kInt64;
    case ElementType::kUint64:
      return torch::kUInt64;
    case ElementType::kFloat32:
      return torch::kFloat32;
    case ElementType::kFloat64:
      return torch::kFloat64;
  }
  throw UsageError("an element type that this version does not know");
}

Batch Rows(const Batch& from, const torch::Tensor& rows) {
  return {from.x.index_select(0, rows), from.y.index_select(0, rows)};
}

torch::Tensor RowNumbers(const std::vector<uint32_t>& rows) {
  return torch::tensor(std::vector<int64_t>(rows.begin(), rows.end()), torch::kInt64);
}

}  // namespace

Dataset LoadDataset(const std::string& path, const std::optional<Normalisation>& normalisation) {
  Expected<Fixture> fixture = ReadFixture(path);
  if (!fixture.ok()) throw InputRejected(path, ReasonOf(fixture.failure(), path));
  const Normalisation normal = normalisation.value_or(
      Normalisation{fixture->statistics.mean, fixture->statistics.standard_deviation});
  std::vector<int64_t> shape = {fixture->rows()};
  shape.insert(shape.end(), fixture->sample_shape.begin(), fixture->sample_shape.end());
  const torch::Tensor raw =
      torch::from_blob(fixture->x.data(), shape, ScalarTypeOf(fixture->x_type)).to(torch::kFloat64);
  const Batch all{((raw - normal.mean) / normal.deviation).to(torch::kFloat32),
                  torch::tensor(fixture->y, torch::kInt64)};
  Dataset dataset{fixture->sample_shape, fixture->classes(), {}, {}, {}};
  dataset.train = Rows(all, RowNumbers(fixture->splits.train));
  dataset.val = Rows(all, RowNumbers(fixture->splits.val));
  dataset.mean_image = dataset.train.x.mean(0, /*keepdim=*/true);
  return dataset;
}

std::string DefaultDataPath() {
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  return program.parent_path().parent_path() / "share/dlcheck/fixtures/digits.h5";
}

Batches::Batches(Batch samples, int64_t batch_size, uint64_t seed)
    : samples_(std::move(samples)), batch_size_(batch_size), seed_(seed) {
  if (batch_size_ > samples_.y.size(0)) {
    throw UsageError("batch-size is " + std::to_string(batch_size_) + ", more than the " +
                     std::to_string(samples_.y.size(0)) + " training samples");
  }
}

Batch Batches::At(int64_t step) {
  const int64_t rows = samples_.y.size(0);
  const int64_t steps_an_epoch = rows / batch_size_;
  const int64_t epoch = step / steps_an_epoch;
  if (epoch != epoch_) {
    order_ = torch::tensor(EpochOrder(rows, seed_, epoch), torch::kInt64);
    epoch_ = epoch;
  }
  const int64_t first = step % steps_an_epoch * batch_size_;
  return Rows(samples_, order_.slice(0, first, first + batch_size_));
}

std::vector<int64_t> EpochOrder(int64_t rows, uint64_t seed, int64_t epoch) {
  std::vector<int64_t> order(static_cast<size_t>(rows));
  std::iota(order.begin(), order.end(), int64_t{0});
  const uint64_t stream = SplitMix64(SplitMix64(seed) + static_cast<uint64_t>(epoch));
  for (size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[SplitMix64(stream + i) % i]);
  }
  return order;
}

}  // namespace dlcheck::reference

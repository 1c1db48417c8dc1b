#include "reference/data/dataset.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "fixtures/read_fixture.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

constexpr int64_t kRowsAtOnce = 1024;

torch::ScalarType ScalarTypeOf(ElementType type) {
  switch (type) {
    case ElementType::kUint8:
      return torch::kUInt8;
    case ElementType::kUint16:
      return torch::kUInt16;
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

Batch Rows(const TensorSource& from, const std::vector<uint32_t>& rows) {
  return from.Take({rows.begin(), rows.end()});
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
  const TensorSource all({((raw - normal.mean) / normal.deviation).to(torch::kFloat32),
                          torch::tensor(fixture->y, torch::kInt64)});
  const Batch train = Rows(all, fixture->splits.train);
  return {fixture->sample_shape, fixture->classes(), std::make_shared<TensorSource>(train),
          std::make_shared<TensorSource>(Rows(all, fixture->splits.val)),
          train.x.mean(0, /*keepdim=*/true)};
}

torch::Tensor CountTargets(const Source& source, int64_t classes) {
  torch::Tensor counts = torch::zeros({classes}, torch::kInt64);
  for (int64_t first = 0; first < source.rows(); first += kRowsAtOnce) {
    std::vector<int64_t> rows(static_cast<size_t>(std::min(kRowsAtOnce, source.rows() - first)));
    std::iota(rows.begin(), rows.end(), first);
    counts += source.Take(rows).y.reshape({-1}).bincount({}, classes);
  }
  return counts;
}

std::string DefaultDataPath(const std::string& name) {
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  return program.parent_path().parent_path() / "share/dlcheck/fixtures" / name;
}

}  // namespace dlcheck::reference

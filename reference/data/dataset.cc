#include "reference/data/dataset.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "fixtures/format/read_fixture.h"
#include "fixtures/format/sample_file.h"
#include "reference/data/samples.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

constexpr int64_t kRowsAtOnce = 1024;
constexpr size_t kPartBytes = size_t{1} << 20;

std::vector<int64_t> ShapeOf(const Fixture& fixture, int64_t rows) {
  std::vector<int64_t> shape = {rows};
  shape.insert(shape.end(), fixture.sample_shape.begin(), fixture.sample_shape.end());
  return shape;
}

Normalization NormalizationOf(const Fixture& fixture,
                              const std::optional<Normalization>& normalization) {
  return normalization.value_or(
      Normalization{fixture.statistics.mean, fixture.statistics.standard_deviation});
}

// In parts, because as doubles the rows may take eight times the room that they take in the file.
Batch Whole(const Fixture& fixture, const Normalization& normal,
            const std::vector<uint32_t>& rows) {
  const size_t row_bytes = fixture.row_bytes();
  const auto count = static_cast<int64_t>(rows.size());
  Batch all{torch::empty(ShapeOf(fixture, count), torch::kFloat32), EmptyTargets(fixture, count)};
  auto* const targets = static_cast<uint8_t*>(all.y.data_ptr());
  const size_t target_bytes = fixture.target_bytes();
  const auto fitting = static_cast<int64_t>(kPartBytes / row_bytes);
  const int64_t at_once = std::clamp<int64_t>(fitting, 1, count);
  std::vector<uint8_t> raw(static_cast<size_t>(at_once) * row_bytes);
  for (int64_t first = 0; first < count; first += at_once) {
    const int64_t last = std::min(first + at_once, count);
    for (int64_t i = first; i < last; ++i) {
      const uint32_t row = rows[static_cast<size_t>(i)];
      std::memcpy(raw.data() + static_cast<size_t>(i - first) * row_bytes,
                  fixture.x.data() + row * row_bytes, row_bytes);
      std::memcpy(targets + static_cast<size_t>(i) * target_bytes, fixture.TargetsOf(row),
                  target_bytes);
    }
    const std::vector<int64_t> shape = ShapeOf(fixture, last - first);
    all.x.slice(0, first, last)
        .copy_(Normalized(Doubles(raw.data(), fixture.x_type, shape), normal));
  }
  return all;
}

Dataset LoadWhole(const std::string& path, const std::optional<Normalization>& normalization) {
  const Expected<Fixture> fixture = ReadFixture(path);
  if (!fixture.ok()) throw InputRejected(path, ReasonOf(fixture.failure(), path));
  const Normalization normal = NormalizationOf(*fixture, normalization);
  const Batch train = Whole(*fixture, normal, fixture->splits.train);
  const Batch val = Whole(*fixture, normal, fixture->splits.val);
  std::shared_ptr<const Source> test;
  if (!fixture->splits.test.empty()) {
    test = std::make_shared<TensorSource>(Whole(*fixture, normal, fixture->splits.test));
  }
  return {fixture->sample_shape,
          fixture->classes(),
          std::make_shared<TensorSource>(train),
          std::make_shared<TensorSource>(val),
          test,
          train.x.mean(0, /*keepdim=*/true),
          nullptr,
          fixture->has_numbers()};
}

// The mean over the training rows of a file that passes by in pieces.
class PassingMean {
 public:
  void Add(const Fixture& known, int64_t first, int64_t count, const uint8_t* rows) {
    const std::vector<uint32_t>& train = known.splits.train;
    const auto begin = std::lower_bound(train.begin(), train.end(), first);
    const auto end = std::lower_bound(begin, train.end(), first + count);
    if (begin == end) return;
    const torch::Tensor index = torch::tensor(std::vector<int64_t>(begin, end)) - first;
    const torch::Tensor piece = Doubles(rows, known.x_type, ShapeOf(known, count));
    const torch::Tensor sum = piece.index_select(0, index).sum(0, /*keepdim=*/true);
    sum_ = sum_.defined() ? sum_ + sum : sum;
  }

  torch::Tensor Result(const Fixture& known, const Normalization& normal) const {
    return Normalized(sum_ / static_cast<double>(known.splits.train.size()), normal);
  }

 private:
  torch::Tensor sum_;
};

Dataset LoadInWindows(const std::string& path, const std::optional<Normalization>& normalization,
                      int64_t most_bytes) {
  PassingMean mean;
  Expected<SampleFile> opened =
      SampleFile::Open(path, [&](const Fixture& known, int64_t first, int64_t count,
                                 const uint8_t* rows) { mean.Add(known, first, count, rows); });
  if (!opened.ok()) throw InputRejected(path, ReasonOf(opened.failure(), path));
  const auto file = std::make_shared<const SampleFile>(std::move(*opened));
  const auto cache = std::make_shared<WindowCache>(most_bytes);
  const Fixture& known = file->known();
  const Normalization normal = NormalizationOf(known, normalization);
  const auto source = [&](const std::vector<uint32_t>& rows) {
    return std::make_shared<const SampleSource>(file, path, rows, normal, cache);
  };
  const std::vector<uint32_t>& test = known.splits.test;
  return {known.sample_shape,
          known.classes(),
          source(known.splits.train),
          source(known.splits.val),
          test.empty() ? nullptr : source(test),
          mean.Result(known, normal),
          cache,
          known.has_numbers()};
}

// Calls `use` with the targets of all rows, a part of them at a time.
void ForTargets(const Source& source, const std::function<void(const torch::Tensor&)>& use) {
  for (int64_t first = 0; first < source.rows(); first += kRowsAtOnce) {
    std::vector<int64_t> rows(static_cast<size_t>(std::min(kRowsAtOnce, source.rows() - first)));
    std::iota(rows.begin(), rows.end(), first);
    use(source.TakeTargets(rows));
  }
}

}  // namespace

Dataset LoadDataset(const std::string& path, const std::optional<Normalization>& normalization,
                    int64_t most_bytes_at_once) {
  const bool whole = SampleBytes(path) <= std::min(most_bytes_at_once, kMostWholeBytes);
  return whole ? LoadWhole(path, normalization)
               : LoadInWindows(path, normalization, most_bytes_at_once);
}

torch::Tensor CountTargets(const Source& source, int64_t classes) {
  torch::Tensor counts = torch::zeros({classes}, torch::kInt64);
  ForTargets(source, [&](const torch::Tensor& targets) {
    counts += targets.reshape({-1}).bincount({}, classes);
  });
  return counts;
}

std::pair<double, double> RangeOfTargets(const Source& source) {
  double least = std::numeric_limits<double>::infinity(), largest = -least;
  ForTargets(source, [&](const torch::Tensor& targets) {
    least = std::min(least, targets.min().item<double>());
    largest = std::max(largest, targets.max().item<double>());
  });
  return {least, largest};
}

std::string DefaultDataPath(const std::string& name) {
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  return program.parent_path().parent_path() / "share/dlcheck/fixtures" / name;
}

}  // namespace dlcheck::reference

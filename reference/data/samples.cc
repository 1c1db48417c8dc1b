#include "reference/data/samples.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "fixtures/format/read_fixture.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {

torch::Tensor EmptyTargets(const Fixture& fixture, int64_t rows) {
  if (!fixture.has_numbers()) return torch::empty({rows}, torch::kInt64);
  return torch::empty({rows, fixture.classes()}, torch::kFloat32);
}

SampleSource::SampleSource(std::shared_ptr<const SampleFile> file, std::string path,
                           std::vector<uint32_t> rows, const Normalization& normalization,
                           std::shared_ptr<WindowCache> cache)
    : file_(std::move(file)),
      path_(std::move(path)),
      rows_(std::move(rows)),
      normalization_(normalization),
      cache_(std::move(cache)),
      window_rows_(
          RowsOfAWindow(static_cast<int64_t>(file_->known().row_bytes()), cache_->most_bytes())) {}

// The raw bytes of all rows of the file that it covers.
torch::Tensor SampleSource::Window(int64_t number) const {
  const int64_t first = number * window_rows_;
  const int64_t count = std::min(window_rows_, file_->known().rows() - first);
  const int64_t bytes = count * static_cast<int64_t>(file_->known().row_bytes());
  return cache_->At(first, bytes, [&] {
    const torch::Tensor window = torch::empty({bytes}, torch::kUInt8);
    const Expected<Done> read = file_->Read(first, count, window.mutable_data_ptr<uint8_t>());
    if (!read.ok()) throw InputRejected(path_, ReasonOf(read.failure(), path_));
    return window;
  });
}

Batch SampleSource::Take(const std::vector<int64_t>& rows) const {
  const Fixture& known = file_->known();
  const size_t row_bytes = known.row_bytes();
  std::vector<uint8_t> raw(rows.size() * row_bytes);
  torch::Tensor window;
  int64_t number = -1;  // of the window
  for (const size_t position : InFileOrder(rows)) {
    const int64_t row = rows_[static_cast<size_t>(rows[position])];
    if (row / window_rows_ != number) {
      number = row / window_rows_;
      window = Window(number);
    }
    std::memcpy(
        raw.data() + position * row_bytes,
        window.const_data_ptr<uint8_t>() + static_cast<size_t>(row % window_rows_) * row_bytes,
        row_bytes);
  }
  std::vector<int64_t> shape = {static_cast<int64_t>(rows.size())};
  shape.insert(shape.end(), known.sample_shape.begin(), known.sample_shape.end());
  return {Normalized(Doubles(raw.data(), known.x_type, shape), normalization_), TakeTargets(rows)};
}

torch::Tensor SampleSource::TakeTargets(const std::vector<int64_t>& rows) const {
  const Fixture& known = file_->known();
  const torch::Tensor targets = EmptyTargets(known, static_cast<int64_t>(rows.size()));
  auto* to = static_cast<uint8_t*>(targets.data_ptr());
  for (const int64_t row : rows) {
    std::memcpy(to, known.TargetsOf(rows_[static_cast<size_t>(row)]), known.target_bytes());
    to += known.target_bytes();
  }
  return targets;
}

std::vector<int64_t> SampleSource::WindowEnds() const {
  std::vector<int64_t> ends;
  for (size_t i = 1; i <= rows_.size(); ++i) {
    if (i == rows_.size() || rows_[i] / window_rows_ != rows_[i - 1] / window_rows_) {
      ends.push_back(static_cast<int64_t>(i));
    }
  }
  return ends;
}

}  // namespace dlcheck::reference

#include "reference/data/window_cache.h"

#include <algorithm>
#include <numeric>

#include "reference/data/source.h"

namespace dlcheck::reference {
namespace {

// Enough that the cost of a read is that of its bytes. Measured on batches out of 300 MiB of rows
// of 12 KiB that the system did not hold in memory: three times as fast as single rows.
constexpr int64_t kMostRows = 64;

}  // namespace

torch::Tensor WindowCache::At(int64_t first, int64_t bytes,
                              const std::function<torch::Tensor()>& read) {
  const std::lock_guard lock(mutex_);
  const auto found = by_first_.find(first);
  if (found != by_first_.end()) {
    windows_.splice(windows_.begin(), windows_, found->second);
    return found->second->content;
  }
  ++reads_;
  if (bytes > most_bytes_) return read();
  // Before the read, so that there is never more than allowed.
  while (held_bytes_ + bytes > most_bytes_) {
    held_bytes_ -= static_cast<int64_t>(windows_.back().content.nbytes());
    by_first_.erase(windows_.back().first);
    windows_.pop_back();
  }
  windows_.push_front({first, read()});
  by_first_[first] = windows_.begin();
  held_bytes_ += static_cast<int64_t>(windows_.front().content.nbytes());
  return windows_.front().content;
}

int64_t WindowCache::held_bytes() const {
  const std::lock_guard lock(mutex_);
  return held_bytes_;
}

int64_t WindowCache::reads() const {
  const std::lock_guard lock(mutex_);
  return reads_;
}

int64_t RowsOfAWindow(int64_t row_bytes, int64_t most_bytes) {
  const int64_t fitting = most_bytes / (2 * kWindowsTogether) / row_bytes;
  return std::clamp<int64_t>(fitting, 1, kMostRows);
}

std::vector<size_t> InFileOrder(const std::vector<int64_t>& rows) {
  std::vector<size_t> positions(rows.size());
  std::iota(positions.begin(), positions.end(), size_t{0});
  std::sort(positions.begin(), positions.end(),
            [&](size_t a, size_t b) { return rows[a] < rows[b]; });
  return positions;
}

}  // namespace dlcheck::reference

#include "diagnostics/series/thinned.h"

#include <algorithm>
#include <cmath>

namespace dlcheck {
namespace {

// Keeps what is finite, counts the rest.
std::vector<StepValue> Finite(const std::vector<StepValue>& samples, Series& series) {
  std::vector<StepValue> finite;
  finite.reserve(samples.size());
  for (const StepValue& sample : samples) {
    if (std::isfinite(sample.value)) {
      finite.push_back(sample);
      continue;
    }
    if (series.nonfinite++ == 0) series.first_nonfinite = sample.step;
  }
  return finite;
}

}  // namespace

void Thin(const std::vector<StepValue>& samples, size_t most_points, Series& series) {
  const std::vector<StepValue> finite = Finite(samples, series);
  series.samples = static_cast<int64_t>(finite.size());
  if (finite.empty()) return;
  const auto by_value = [](const StepValue& a, const StepValue& b) { return a.value < b.value; };
  const auto [least, most] = std::ranges::minmax_element(finite, by_value);
  series.first = finite.front().value;
  series.last = finite.back().value;
  series.least = least->value;
  series.most = most->value;
  const size_t buckets = std::clamp<size_t>(most_points / 2, 1, finite.size());
  for (size_t i = 0; i < buckets; ++i) {
    const size_t begin = i * finite.size() / buckets, end = (i + 1) * finite.size() / buckets;
    Bucket bucket{.first_step = finite[begin].step,
                  .last_step = finite[end - 1].step,
                  .low = finite[begin].value,
                  .high = finite[begin].value};
    for (size_t k = begin + 1; k < end; ++k) {
      bucket.low = std::min(bucket.low, finite[k].value);
      bucket.high = std::max(bucket.high, finite[k].value);
    }
    series.buckets.push_back(bucket);
  }
}

}  // namespace dlcheck

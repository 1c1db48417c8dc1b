#include "checks/signals/run/statistics.h"

#include <algorithm>
#include <cmath>

namespace dlcheck {

double Median(std::vector<double> values) {
  const size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + middle, values.end());
  const double upper = values[middle];
  if (values.size() % 2 == 1) return upper;
  return (*std::max_element(values.begin(), values.begin() + middle) + upper) / 2;
}

double MannKendall(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  if (count < 2) return 0;
  double rises = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = i + 1; j < values.size(); ++j) {
      rises += (values[j] > values[i] ? 1 : 0) - (values[j] < values[i] ? 1 : 0);
    }
  }
  if (rises == 0) return 0;
  const double deviation = std::sqrt(count * (count - 1) * (2 * count + 5) / 18);
  return (rises - (rises > 0 ? 1 : -1)) / deviation;
}

}  // namespace dlcheck

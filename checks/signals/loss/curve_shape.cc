#include "checks/signals/loss/curve_shape.h"

#include <cmath>

#include "checks/signals/run/statistics.h"

namespace dlcheck {

std::vector<double> ExponentialMeans(const LossCurve& curve) {
  constexpr double kRate = 2 / (kSpan + 1);
  std::vector<double> means;
  double sum = 0, weight = 0;
  for (const LossCurve::Point& point : curve.points) {
    sum += kRate * (point.loss - sum);
    weight += kRate * (1 - weight);
    means.push_back(sum / weight);
  }
  return means;
}

double ScatterOfMeans(const LossCurve& curve, const std::vector<double>& means, size_t count) {
  if (count == 0) return 0;
  std::vector<double> deviations;
  for (size_t i = 0; i < count; ++i) {
    deviations.push_back(std::abs(curve.points[i].loss - means[i]));
  }
  return 1.4826 * Median(std::move(deviations)) / std::sqrt(kSpan);
}

std::vector<double> BlockMedians(const LossCurve& curve, size_t blocks) {
  const size_t size = curve.points.size() / blocks;
  std::vector<double> medians;
  for (size_t block = 0; block < blocks; ++block) {
    std::vector<double> losses;
    for (size_t i = block * size; i < (block + 1) * size; ++i) {
      losses.push_back(curve.points[i].loss);
    }
    medians.push_back(Median(std::move(losses)));
  }
  return medians;
}

}  // namespace dlcheck

#include "reference/training/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dlcheck::reference {

bool StopsEarly(const MetricTable& table, const Patience& patience) {
  if (patience.evaluations == 0) return false;
  const bool is_reached = patience.rule == Patience::Rule::kReached;
  double best = std::numeric_limits<double>::infinity();
  int64_t misses = 0;
  for (const Evaluation& evaluation : table) {
    if (is_reached && !std::isfinite(evaluation.loss)) return true;
    const bool improves = best - evaluation.loss > patience.min_delta;
    if (improves) best = evaluation.loss;
    misses = improves ? 0 : misses + 1;
    if (misses >= patience.evaluations + (is_reached ? 0 : 1)) return true;
  }
  return false;
}

double PlateauFactor(const MetricTable& table, const Plateau& plateau) {
  double best = std::numeric_limits<double>::infinity();
  double factor = 1;
  int64_t misses = 0, cooling = 0;
  for (const Evaluation& evaluation : table) {
    const bool improves = evaluation.loss < best * (1 - plateau.threshold);
    if (improves) best = evaluation.loss;
    misses = improves ? 0 : misses + 1;
    if (cooling > 0) {
      --cooling;
      misses = 0;
    }
    if (misses > plateau.patience) {
      factor *= plateau.factor;
      cooling = plateau.cooldown;
      misses = 0;
    }
  }
  return factor;
}

MetricTable Smoothed(const MetricTable& table, int64_t window) {
  MetricTable means;
  const auto width = static_cast<size_t>(window);
  for (size_t end = width; end <= table.size(); ++end) {
    Evaluation mean = table[end - 1];
    mean.loss = 0;
    for (size_t i = end - width; i < end; ++i) mean.loss += table[i].loss;
    mean.loss /= static_cast<double>(window);
    means.push_back(mean);
  }
  return means;
}

std::vector<int64_t> BestSteps(const MetricTable& table, int64_t count) {
  MetricTable finite;
  std::copy_if(table.begin(), table.end(), std::back_inserter(finite),
               [](const Evaluation& evaluation) { return std::isfinite(evaluation.loss); });
  std::stable_sort(finite.begin(), finite.end(),
                   [](const Evaluation& a, const Evaluation& b) { return a.loss < b.loss; });
  std::vector<int64_t> steps;
  for (const Evaluation& evaluation : finite) {
    if (static_cast<int64_t>(steps.size()) == count) break;
    steps.push_back(evaluation.step);
  }
  return steps;
}

}  // namespace dlcheck::reference

#include "checks/observe/preload/steps/plateaus.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "checks/observe/preload/call_sites.h"

namespace dlcheck {
namespace {

constexpr size_t kFewestMetrics = 4, kMostMetrics = 512;  // that are kept
constexpr int kMostThingsOfShare = 4096;
constexpr double kNearWhole = 1e-3;

// The place of each value among all, from 0; equal ones share theirs.
std::vector<double> RanksOf(const std::vector<double>& values) {
  std::vector<double> sorted = values, ranks;
  std::sort(sorted.begin(), sorted.end());
  for (const double value : values) {
    const auto [first, behind] = std::equal_range(sorted.begin(), sorted.end(), value);
    ranks.push_back(static_cast<double>((first - sorted.begin()) + (behind - sorted.begin()) - 1) /
                    2);
  }
  return ranks;
}

// Spearman's correlation of the values with their order in time; 0 of equal values.
double OrderInTime(const std::vector<double>& values) {
  const std::vector<double> ranks = RanksOf(values);
  const double middle = static_cast<double>(values.size() - 1) / 2;
  double both = 0, of_ranks = 0, of_times = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const double rank = ranks[i] - middle, time = static_cast<double>(i) - middle;
    both += rank * time;
    of_ranks += rank * rank;
    of_times += time * time;
  }
  return of_ranks > 0 ? both / std::sqrt(of_ranks * of_times) : 0;
}

// Whether all are shares of one number of things, as an accuracy is of samples: multiples of 1/n.
bool AreShares(const std::vector<double>& values) {
  const std::set<double> different(values.begin(), values.end());
  if (*different.begin() < 0 || *different.rbegin() > 1) return false;
  if (different.size() < kFewestMetrics) return false;
  for (int things = 1; things < kMostThingsOfShare; ++things) {
    const bool are_whole = std::all_of(values.begin(), values.end(), [things](double value) {
      return std::abs(value * things - std::round(value * things)) < kNearWhole;
    });
    if (are_whole) return true;
  }
  return false;
}

}  // namespace

void Plateaus::Given(bool is_max, double metric) {
  Metrics& metrics = given_[is_max];
  if (metrics.values.size() >= kMostMetrics) return;
  metrics.values.push_back(metric);
  metrics.site = CallSite();
}

void Plateaus::RunEnds(ProbeRecorder& recorder) {
  for (const auto& [is_max, metrics] : given_) {
    if (metrics.values.size() < kFewestMetrics) continue;
    ProbeClock& clock = recorder.clock();
    const uint32_t thing = clock.writer().Thing("scheduler", 0, is_max ? "max" : "min");
    clock.Put(Quantity::kPlateauOrder, {thing, 0, recorder.Site(metrics.site)},
              OrderInTime(metrics.values), AreShares(metrics.values) ? 1 : 0);
  }
}

}  // namespace dlcheck

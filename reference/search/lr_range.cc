#include "reference/search/lr_range.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "reference/recipe/rejection.h"
#include "reference/search/seeds.h"
#include "reference/training/run.h"

namespace dlcheck::reference {
namespace {

constexpr int64_t kFewestSteps = 50;
constexpr double kFirst = 1e-6, kLast = 10;
constexpr double kKept = 0.9;   // of the smoothed loss, at each step
constexpr double kShare = 0.1;  // of the whole fall
constexpr double kSafe = 3;     // how far below the rate of the lowest loss

double RateAt(size_t step, size_t steps, double first, double last) {
  return first * std::pow(last / first, static_cast<double>(step) / static_cast<double>(steps - 1));
}

// Without the pull to zero that the first values would have.
std::vector<double> Smoothed(const std::vector<double>& losses) {
  std::vector<double> smoothed;
  double sum = 0, weight = 0;
  for (const double loss : losses) {
    sum = kKept * sum + (1 - kKept) * loss;
    weight = kKept * weight + (1 - kKept);
    smoothed.push_back(sum / weight);
  }
  return smoothed;
}

std::vector<double> LossesOf(const Recipe& recipe) {
  Plan plan;
  plan.recipe = recipe;
  plan.is_silent = true;
  const auto steps = static_cast<size_t>(recipe.steps);
  plan.rate = [steps](int64_t step) {
    return RateAt(static_cast<size_t>(step), steps, kFirst, kLast);
  };
  std::vector<double> losses(steps, std::numeric_limits<double>::quiet_NaN());
  int64_t step = 0;
  plan.step_begins = [&](int64_t begun) { step = begun; };
  Observer observer;
  observer.loss = [&](const torch::Tensor& loss, const torch::Tensor&, const torch::Tensor&) {
    losses[static_cast<size_t>(step)] = loss.item<double>();
  };
  RunPlan(plan, observer);
  return losses;
}

}  // namespace

RateRange RangeOf(const std::vector<double>& losses, double first, double last) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> smoothed = Smoothed(losses);
  const auto is_finite = [](double loss) { return std::isfinite(loss); };
  const auto end = std::find_if_not(smoothed.begin(), smoothed.end(), is_finite);
  const auto lowest = std::min_element(smoothed.begin(), end);
  if (lowest == end || lowest == smoothed.begin()) return {kNone, kNone, kNone};
  const double fall = smoothed.front() - *lowest;
  const auto learns = std::find_if(smoothed.begin(), lowest, [&](double loss) {
    return loss <= smoothed.front() - kShare * fall;
  });
  const auto diverges = std::find_if(lowest, smoothed.end(), [&](double loss) {
    return !(loss <= *lowest + kShare * fall);  // nor what is not finite
  });
  const auto rate = [&](auto at) {
    return RateAt(static_cast<size_t>(at - smoothed.begin()), smoothed.size(), first, last);
  };
  return {rate(learns), rate(lowest),
          diverges == smoothed.end() ? std::numeric_limits<double>::infinity() : rate(diverges)};
}

int RunLrRange(Recipe recipe) {
  if (recipe.steps < kFewestSteps) throw UsageError("lr-range needs 50 steps or more");
  recipe.evaluate_every = recipe.steps;
  recipe.evaluate_samples = 1;
  recipe.warmup_steps = 0;
  recipe.schedule = "constant";
  const int64_t first_seed = recipe.seed;
  double low = 0, high = std::numeric_limits<double>::infinity();
  std::printf("seed  learns from  lowest loss at  diverges from\n");
  for (recipe.seed = first_seed; recipe.seed < first_seed + kSeeds; ++recipe.seed) {
    const RateRange range = RangeOf(LossesOf(recipe), kFirst, kLast);
    std::printf("%4lld  %11.2g  %14.2g  %13.2g\n", static_cast<long long>(recipe.seed),
                range.learns_from, range.lowest_at, range.diverges_from);
    std::fflush(stdout);
    if (std::isnan(range.lowest_at)) low = std::numeric_limits<double>::infinity();
    low = std::max(low, range.learns_from);
    high = std::min(high, range.lowest_at);
  }
  if (!(low < high)) {
    std::printf("no learning rate at which all seeds learn\n");
    return 1;
  }
  std::printf("all seeds learn from %.2g to %.2g; try %.1g first, a third of the latter\n", low,
              high, high / kSafe);
  return 0;
}

}  // namespace dlcheck::reference

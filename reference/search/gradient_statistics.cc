#include "reference/search/gradient_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "reference/recipe/rejection.h"
#include "reference/search/seeds.h"
#include "reference/training/run.h"

namespace dlcheck::reference {
namespace {

constexpr int64_t kFewestMicroBatches = 8;

double SquareOf(const torch::nn::Module& module) {
  double square = 0;
  for (const torch::Tensor& parameter : module.parameters()) {
    if (parameter.grad().defined()) {
      square += parameter.grad().to(torch::kDouble).square().sum().item<double>();
    }
  }
  return square;
}

void NeedPlain(const Recipe& recipe) {
  if (recipe.gradient_clip_algorithm != "none") {
    throw UsageError("gradient-statistics are of gradients that are not clipped");
  }
  if (ScalesLoss(recipe) || recipe.nproc > 1) {
    throw UsageError("gradient-statistics are of one process, without a loss scaler");
  }
}

double Percentile(const std::vector<double>& ascending, double share) {
  const auto last = static_cast<double>(ascending.size() - 1);
  return ascending[static_cast<size_t>(std::lround(share * last))];
}

}  // namespace

void NoiseEstimate::Add(double small_square, double large_square, double small, double large) {
  signal_ += (large * large_square - small * small_square) / (large - small);
  noise_ += (small_square - large_square) / (1 / small - 1 / large);
  ++steps_;
}

double NoiseEstimate::scale() const {
  return signal() > 0 ? noise() / signal() : std::numeric_limits<double>::quiet_NaN();
}

GradientStatistics StatisticsOf(Recipe recipe) {
  NeedPlain(recipe);
  recipe.gradient_accumulation_steps =
      std::max(recipe.gradient_accumulation_steps, kFewestMicroBatches);
  recipe.evaluate_every = recipe.steps;
  recipe.evaluate_samples = 1;
  const auto parts = static_cast<double>(recipe.gradient_accumulation_steps);
  const auto small = static_cast<double>(recipe.batch_size);
  GradientStatistics found;
  const torch::nn::Module* module = nullptr;
  int64_t micro = 0;
  double first_square = 0;
  Plan plan;
  plan.is_silent = true;
  plan.recipe = recipe;
  plan.step_begins = [&](int64_t) { micro = 0; };
  Observer observer;
  observer.model = [&](torch::nn::Module& model) { module = &model; };
  observer.batch = [&](const torch::Tensor&, const torch::Tensor&) {
    // The first micro-batch added its part of the mean over all.
    if (micro++ == 1) first_square = SquareOf(*module) * parts * parts;
  };
  observer.before_step = [&] {
    const double square = SquareOf(*module);
    found.norms.push_back(std::sqrt(square));
    found.noise.Add(first_square, square, small, small * parts);
  };
  RunPlan(plan, observer);
  std::sort(found.norms.begin(), found.norms.end());
  return found;
}

int RunGradientStatistics(Recipe recipe) {
  const int64_t first_seed = recipe.seed;
  double low = std::numeric_limits<double>::infinity(), high = 0;
  std::vector<double> norms;
  std::printf("seed  noise scale  norm: median      90 %%      99 %%\n");
  for (recipe.seed = first_seed; recipe.seed < first_seed + kSeeds; ++recipe.seed) {
    const GradientStatistics found = StatisticsOf(recipe);
    std::printf("%4lld  %11.4g  %12.4g  %8.4g  %8.4g\n", static_cast<long long>(recipe.seed),
                found.noise.scale(), Percentile(found.norms, 0.5), Percentile(found.norms, 0.9),
                Percentile(found.norms, 0.99));
    std::fflush(stdout);
    norms.insert(norms.end(), found.norms.begin(), found.norms.end());
    if (std::isnan(found.noise.scale())) continue;
    low = std::min(low, found.noise.scale());
    high = std::max(high, found.noise.scale());
  }
  std::sort(norms.begin(), norms.end());
  std::printf("gradient-clip-val %.2g clips one step in ten\n", Percentile(norms, 0.9));
  if (!(low <= high)) {
    std::printf("no noise scale: the gradients are smaller than their noise\n");
    return 1;
  }
  std::printf("noise scale %.3g to %.3g samples: larger batches save few steps\n", low, high);
  return 0;
}

}  // namespace dlcheck::reference

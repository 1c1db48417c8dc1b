#include "reference/search/gradient_statistics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "reference/models/models.h"
#include "reference/recipe/rejection.h"
#include "reference/training/run.h"

namespace dlcheck::reference {
namespace {

TEST(NoiseEstimate, OfExactExpectationsIsExact) {
  // A true gradient of norm 2, and a variance of 12 a sample: E|G_b|^2 = 4 + 12 / b.
  NoiseEstimate estimate;
  estimate.Add(4 + 12.0 / 3, 4 + 12.0 / 24, 3, 24);
  EXPECT_NEAR(estimate.signal(), 4, 1e-12);
  EXPECT_NEAR(estimate.noise(), 12, 1e-12);
  EXPECT_NEAR(estimate.scale(), 3, 1e-12);
}

TEST(NoiseEstimate, IsNoneWhereTheSignalIsLost) {
  NoiseEstimate estimate;
  estimate.Add(1, 0, 3, 24);
  EXPECT_TRUE(std::isnan(estimate.scale()));
}

// A linear model that stays as it begins: its gradient for each sample is an outer product.
TEST(GradientStatistics, AgreeWithTheGradientsOfSingleSamples) {
  Recipe recipe;
  recipe.model = "linear";
  recipe.lr = 1e-12;
  recipe.batch_size = 16;
  recipe.steps = 200;
  const GradientStatistics found = StatisticsOf(recipe);

  const std::string path = DefaultDataPath("digits.h5");
  const Dataset data = LoadDataset(path, std::nullopt);
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < data.train->rows(); ++row) rows.push_back(row);
  const Batch all = data.train->Take(rows);
  torch::manual_seed(0);
  ModelOptions options;
  options.name = "linear";
  options.sample_shape = data.sample_shape;
  options.outputs = data.classes;
  const Model model = MakeModel(options);
  const torch::NoGradGuard no_grad;
  const torch::Tensor x = all.x.flatten(1).to(torch::kDouble);
  const torch::Tensor errors = model.forward(all.x).softmax(1).to(torch::kDouble) -
                               torch::one_hot(all.y, 10).to(torch::kDouble);
  const torch::Tensor inputs = torch::cat({x, torch::ones({x.size(0), 1}, torch::kDouble)}, 1);
  const double signal = errors.t().mm(inputs).div(x.size(0)).square().sum().item<double>();
  const double second = (errors.square().sum(1) * inputs.square().sum(1)).mean().item<double>();
  const double noise = second - signal;
  EXPECT_NEAR(found.noise.signal(), signal, 0.1 * signal);
  EXPECT_NEAR(found.noise.noise(), noise, 0.1 * noise);
  EXPECT_EQ(found.norms.size(), 200U);
}

TEST(GradientStatistics, RefuseRecipesThatChangeTheGradients) {
  Recipe recipe;
  recipe.gradient_clip_algorithm = "norm";
  EXPECT_THROW(StatisticsOf(recipe), UsageError);
}

}  // namespace
}  // namespace dlcheck::reference

#include "reference/training/experiments.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>

#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

constexpr int64_t kOneBatchSamples = 32;

void UseReferenceOptimizer(const Request& request, Recipe& recipe) {
  if (!request.reference_rate) {
    throw UsageError("experiment " + request.experiment + " came without reference_rate");
  }
  recipe.optimizer = "adam";
  recipe.lr = *request.reference_rate;
  recipe.amsgrad = false;
  recipe.maximize = false;
  recipe.lr_factors.clear();
  recipe.weight_decay = 0;
  recipe.schedule = "constant";
  recipe.warmup_steps = 0;
  recipe.gradient_clip_algorithm = "none";
  recipe.ema_decay = 0;
  recipe.patience = 0;
}

std::string Redirected(const Request& request, const std::string& path) {
  const std::string name = std::filesystem::path(path).filename();
  const std::string redirected = std::filesystem::path(request.run_folder) / name;
  std::printf("writing to '%s' instead of '%s': this is an experiment\n", redirected.c_str(),
              path.c_str());
  return redirected;
}

// An experiment writes nothing that the recipe names, and goes on from nothing.
void RedirectFiles(const Request& request, Recipe& recipe) {
  for (std::string* path : {&recipe.save, &recipe.export_to, &recipe.checkpoints, &recipe.log}) {
    if (!path->empty()) *path = Redirected(request, *path);
  }
  recipe.resume = false;
  recipe.stop_after = 0;
}

}  // namespace

void ApplyRequest(const Request& request, Plan& plan) {
  Recipe& recipe = plan.recipe;
  if (request.seed) recipe.seed = *request.seed;
  const std::string& experiment = request.experiment;
  if (experiment != "plain") RedirectFiles(request, recipe);
  // These end by the probe's count of steps, so that schedules stay what they are.
  if (experiment == "plain" || experiment == "same_seed") return;
  if (experiment == "trials") {
    plan.runs_trials = true;
    return;
  }
  if (experiment == "resumed") {
    recipe.checkpoints = std::filesystem::path(request.run_folder) / "checkpoints";
    return;
  }
  recipe.steps = request.steps.value_or(recipe.steps);
  UseReferenceOptimizer(request, recipe);
  if (experiment == "one_batch") {
    recipe.batch_size = std::min(recipe.batch_size, kOneBatchSamples);
    recipe.gradient_accumulation_steps = 1;
    recipe.dropout = 0;
    recipe.label_smoothing = 0;
    plan.batch_of_step = [](int64_t) { return int64_t{0}; };
  } else if (experiment == "mean_inputs") {
    plan.input = [](const torch::Tensor& x, const torch::Tensor& mean_image) {
      const bool is_alike = x.sizes().slice(1) == mean_image.sizes().slice(1);
      if (is_alike) return mean_image.expand_as(x);
      // The level of the noise, which follows an image, says nothing of it.
      const int64_t channels = mean_image.size(1);
      const torch::Tensor image = mean_image.expand({x.size(0), -1, -1, -1});
      return torch::cat({image, x.slice(1, channels)}, 1);
    };
  } else if (experiment != "reference") {
    throw UsageError("experiment '" + experiment + "' is not known to this trainer");
  }
}

}  // namespace dlcheck::reference

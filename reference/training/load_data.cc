#include "reference/training/load_data.h"

#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;

Dataset Tokens(const Recipe& recipe, const std::string& path) {
  if (recipe.model == "mlp" || recipe.model == "resnet") {
    throw UsageError("data '" + path + "' is a stream of tokens; model " + recipe.model +
                     " takes images: use gpt");
  }
  Dataset dataset = LoadTokens(path, recipe.context, recipe.read_limit_mib * kMebibyte);
  dataset.mean_image = torch::zeros({1, recipe.context}, torch::kInt64);
  return dataset;
}

}  // namespace

Dataset LoadData(const Plan& plan) {
  const Recipe& recipe = plan.recipe;
  const std::string own = DefaultDataPath(recipe.model == "gpt" ? "text.h5" : "digits.h5");
  const std::string path = recipe.data.empty() ? own : recipe.data;
  if (IsTokenData(path)) return Tokens(recipe, path);
  if (recipe.model == "gpt") {
    throw UsageError("data '" + path + "' holds images; model gpt takes a stream of tokens");
  }
  return LoadDataset(path, plan.normalisation);
}

}  // namespace dlcheck::reference

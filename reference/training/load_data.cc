#include "reference/training/load_data.h"

#include "reference/recipe/built_in_models.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

int64_t MostBytesAtOnce(const Recipe& recipe) {
  constexpr int64_t kMebibyte = int64_t{1} << 20;
  return recipe.read_limit_mib * kMebibyte;
}

Dataset Tokens(const Recipe& recipe, const std::string& path) {
  if (IsNameOfModel(recipe.model) && !TakesTokens(recipe.model)) {
    throw UsageError("data '" + path + "' is a stream of tokens; model " + recipe.model +
                     " takes images: use gpt or lstm");
  }
  Dataset dataset = LoadTokens(path, recipe.context, MostBytesAtOnce(recipe));
  dataset.mean_image = torch::zeros({1, recipe.context}, torch::kInt64);
  return dataset;
}

}  // namespace

std::string DataPath(const Recipe& recipe) {
  if (!recipe.data.empty()) return recipe.data;
  return DefaultDataPath(TakesTokens(recipe.model) ? "text.h5" : "digits.h5");
}

Dataset LoadData(const Plan& plan) {
  const Recipe& recipe = plan.recipe;
  const std::string path = DataPath(recipe);
  if (IsTokenData(path)) return Tokens(recipe, path);
  // First whatever else is wrong with the file.
  Dataset dataset = LoadDataset(path, plan.normalization, MostBytesAtOnce(recipe));
  if (TakesTokens(recipe.model)) {
    throw UsageError("data '" + path + "' holds images; model " + recipe.model +
                     " takes a stream of tokens");
  }
  return dataset;
}

}  // namespace dlcheck::reference

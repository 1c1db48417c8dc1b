// What a recipe leaves open, and texts of it that hold more than one value.
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include "reference/recipe/recipe.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

using ByOptimizer = std::map<std::string, double>;

double Of(const ByOptimizer& values, const std::string& optimizer, double otherwise) {
  const auto found = values.find(optimizer);
  return found == values.end() ? otherwise : found->second;
}

std::vector<std::string> Split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

}  // namespace

double LearningRate(const Recipe& recipe) {
  const ByOptimizer rates = {{"sgd", 0.05},       {"adagrad", 0.02}, {"muon", 0.02},
                             {"adafactor", 0.01}, {"lamb", 0.01},    {"schedule_free", 0.005},
                             {"lion", 0.0003}};
  const double lr = recipe.lr.value_or(Of(rates, recipe.optimizer, 0.002));
  if (recipe.lr_scaling == "none") return lr;
  const auto samples = static_cast<double>(recipe.batch_size * recipe.gradient_accumulation_steps);
  const double ratio = samples / static_cast<double>(recipe.lr_base_batch);
  return lr * (recipe.lr_scaling == "linear" ? ratio : std::sqrt(ratio));
}

double Momentum(const Recipe& recipe) {
  const ByOptimizer momenta = {{"rmsprop", 0}, {"muon", 0.95}};
  return recipe.momentum.value_or(Of(momenta, recipe.optimizer, 0.9));
}

double Beta2(const Recipe& recipe) {
  return recipe.beta2.value_or(recipe.optimizer == "lion" ? 0.99 : 0.999);
}

double Epsilon(const Recipe& recipe) {
  return recipe.epsilon.value_or(Of({{"adagrad", 1e-10}, {"lamb", 1e-6}}, recipe.optimizer, 1e-8));
}

bool EndsAtHorizon(const Recipe& recipe) {
  const std::set<std::string> schedules = {"linear", "cosine", "one_cycle", "cooldown",
                                           "polynomial"};
  return schedules.count(recipe.schedule) > 0;
}

double RateFactorOf(const Recipe& recipe, const std::string& parameter) {
  double factor = 1;
  bool is_found = false;
  for (const std::string& entry : Split(recipe.lr_factors)) {
    const size_t at = entry.rfind('=');
    const std::string number = at == std::string::npos ? "" : entry.substr(at + 1);
    char* end = nullptr;
    const double value = std::strtod(number.c_str(), &end);
    if (at == 0 || number.empty() || *end != '\0' || !std::isfinite(value) || value <= 0) {
      throw UsageError("lr-factors: '" + entry +
                       "', expected: PATTERN=FACTOR with a factor above 0");
    }
    if (is_found || parameter.find(entry.substr(0, at)) == std::string::npos) continue;
    factor = value;
    is_found = true;
  }
  return factor;
}

std::vector<int64_t> MilestonesOf(const std::string& text) {
  std::vector<int64_t> milestones;
  for (const std::string& word : Split(text)) {
    char* end = nullptr;
    const long long number = std::strtoll(word.c_str(), &end, 10);
    if (word.empty() || *end != '\0' || number < 1) {
      throw UsageError("milestones: '" + word + "', expected: updates from 1 on, as 100,200");
    }
    milestones.push_back(number);
  }
  return milestones;
}

}  // namespace dlcheck::reference

#include "reference/baseline/ladder.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>

#include "reference/baseline/comparison.h"
#include "reference/training/run.h"

namespace dlcheck::reference {
namespace {

constexpr int64_t kSeeds = 3;
constexpr int64_t kFewestSteps = 20;  // for the choice of the rate

std::shared_ptr<const Dataset> DatasetOf(const Capture& capture) {
  const auto first = std::make_shared<TensorSource>(capture.batches.front());
  auto dataset = std::make_shared<Dataset>();
  dataset->sample_shape = capture.sample_shape;
  dataset->classes = capture.classes;
  dataset->train = first;  // what is trained on comes from the capture, batch by batch
  dataset->val = first;
  dataset->mean_image = torch::zeros_like(capture.batches.front().x.slice(0, 0, 1));
  return dataset;
}

Recipe Common() {
  Recipe recipe;
  recipe.optimizer = "adam";
  recipe.batch_size = 1;
  recipe.evaluate_every = 1000000000;
  recipe.evaluate_samples = 1;
  return recipe;
}

using Rate = std::function<double(int64_t step)>;

std::vector<double> LossesOf(const Recipe& recipe, const Capture& capture,
                             const Rate& rate = nullptr) {
  Plan plan;
  plan.recipe = recipe;
  plan.data = DatasetOf(capture);
  plan.is_silent = true;
  plan.rate = rate;
  plan.batch = [&](int64_t step, const Batch&) {
    return capture.batches[static_cast<size_t>(step)];
  };
  std::vector<double> losses;
  Observer observer;
  observer.loss = [&](const torch::Tensor& loss, const torch::Tensor&, const torch::Tensor&) {
    losses.push_back(loss.item<double>());
  };
  RunPlan(plan, observer);
  return losses;
}

double Mean(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

}  // namespace

std::vector<BaselineModel> BaselineModels(const Capture& capture) {
  const auto with_model = [&](const std::string& model) {
    Recipe recipe = Common();
    recipe.model = model;
    if (capture.has_numbers) recipe.loss = "mse";
    return recipe;
  };
  if (capture.has_tokens) {
    Recipe lstm = with_model("lstm"), gpt = with_model("gpt");
    for (Recipe* recipe : {&lstm, &gpt}) {
      recipe->context = capture.sample_shape.front();
      recipe->gradient_clip_algorithm = "norm";
      recipe->depth = 2;
    }
    return {{"lstm", lstm, {1e-3, 3e-3, 1e-2}}, {"gpt", gpt, {3e-4, 1e-3, 3e-3}}};
  }
  std::vector<BaselineModel> models = {{"linear", with_model("linear"), {1e-3, 1e-2, 1e-1}},
                                       {"mlp", with_model("mlp"), {3e-4, 1e-3, 1e-2}}};
  const InputShape& shape = capture.sample_shape;
  if (shape.size() == 3 && shape[1] >= 4 && shape[2] >= 4) {
    models.push_back({"resnet", with_model("resnet"), {1e-3, 3e-3, 1e-2}});
  }
  return models;
}

Trained Train(const BaselineModel& model, const Capture& capture,
              const std::function<void(const std::string&)>& tell) {
  const auto all = static_cast<int64_t>(capture.batches.size());
  Trained trained{model.name, 0, 0, {}};
  double best = std::numeric_limits<double>::infinity();
  for (const double rate : model.rates) {
    std::vector<double> late;
    for (int64_t seed = 0; seed < kSeeds; ++seed) {
      Recipe recipe = model.recipe;
      recipe.lr = rate;
      recipe.seed = seed;
      recipe.steps = std::min(all, std::max(all / 10, kFewestSteps));
      late.push_back(LateLoss(LossesOf(recipe, capture)));
    }
    tell(model.name + ": rate " + std::to_string(rate) + " gives " + std::to_string(Mean(late)));
    if (Mean(late) < best) {
      best = Mean(late);
      trained.rate = rate;
    }
  }
  if (trained.rate == 0) trained.rate = model.rates.front();  // none gave a number
  std::vector<double> milliseconds;
  for (int64_t seed = 0; seed < kSeeds; ++seed) {
    Recipe recipe = model.recipe;
    recipe.lr = trained.rate;
    recipe.seed = seed;
    recipe.steps = all;
    const auto begin = std::chrono::steady_clock::now();
    trained.losses.push_back(LossesOf(recipe, capture));
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - begin;
    milliseconds.push_back(taken.count() / static_cast<double>(all));
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  trained.milliseconds = milliseconds[milliseconds.size() / 2];
  return trained;
}

std::optional<BaselineLosses> TrainLike(const BaselineModel& model, const Capture& capture) {
  static const std::map<std::string, std::string> names = {
      {"SGD", "sgd"},         {"Adam", "adam"},   {"AdamW", "adamw"},        {"RMSprop", "rmsprop"},
      {"Adagrad", "adagrad"}, {"NAdam", "nadam"}, {"Adafactor", "adafactor"}};
  const CapturedOptimizer& own = capture.optimizer;
  const auto found = names.find(own.name);
  const bool knows_rates =
      std::ranges::all_of(own.rates, [](double rate) { return std::isfinite(rate); });
  if (found == names.end() || !knows_rates) return std::nullopt;
  Recipe recipe = model.recipe;
  recipe.optimizer = found->second;
  recipe.momentum = own.momentum;
  recipe.nesterov = own.nesterov;
  recipe.beta1 = own.beta1;
  recipe.beta2 = own.beta2;
  recipe.epsilon = own.epsilon;
  recipe.alpha = own.alpha;
  recipe.centered = own.centered;
  recipe.amsgrad = own.amsgrad;
  recipe.weight_decay = own.weight_decay;
  recipe.steps = static_cast<int64_t>(capture.batches.size());
  BaselineLosses like{model.name, {}};
  for (int64_t seed = 0; seed < kSeeds; ++seed) {
    recipe.seed = seed;
    like.losses.push_back(LossesOf(
        recipe, capture, [&](int64_t step) { return own.rates[static_cast<size_t>(step)]; }));
  }
  return like;
}

double LossOfConstant(const Capture& capture) {
  if (capture.has_numbers) {
    double sum = 0, count = 0;
    for (const Batch& batch : capture.batches) {  // whose mean is 0
      sum += batch.y.square().sum().item<double>();
      count += static_cast<double>(batch.y.numel());
    }
    return sum / count;
  }
  torch::Tensor counts = torch::zeros({capture.classes}, at::kDouble);
  for (const Batch& batch : capture.batches) {
    const torch::Tensor targets = batch.y.reshape({-1});
    const torch::Tensor counted = targets.masked_select(targets.ge(0));
    counts += torch::bincount(counted, {}, capture.classes);
  }
  const torch::Tensor shares = counts / counts.sum();
  return -torch::xlogy(shares, shares).sum().item<double>();
}

}  // namespace dlcheck::reference

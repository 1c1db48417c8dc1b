// One run as a value: the recipe, and each place where an experiment or a planted fault may put
// something else. Without either, every place holds what the textbook does.
//
// Letters: B batch, C classes, F features.
#pragma once

#include <torch/torch.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "dlcheck/plugin.h"
#include "reference/data/data.h"
#include "reference/data/dataset.h"
#include "reference/recipe/recipe.h"
#include "reference/training/deviations.h"
#include "reference/training/phases.h"

namespace dlcheck::reference {

struct Plan {
  using Tensor = torch::Tensor;

  Recipe recipe;

  // Set by main.cc: what comes before a user's model is loaded; throws if it is not to be.
  std::function<void(const Recipe& recipe, const InputShape& sample_shape, int64_t classes)>
      preflight = [](const Recipe&, const InputShape&, int64_t) {};

  // Set by experiments.
  std::function<int64_t(int64_t step)> batch_of_step = [](int64_t step) { return step; };
  bool runs_trials = false;
  std::shared_ptr<const Dataset> data = nullptr;  // none: what the recipe names
  // None: as the recipe's schedule. Of all groups, at this step.
  std::function<double(int64_t step)> rate = nullptr;
  bool is_silent = false;                              // prints nothing
  std::optional<int64_t> stop_at_step = std::nullopt;  // with a checkpoint, as at a signal
  std::function<Tensor(Tensor x, const Tensor& mean_image)> input = [](Tensor x, const Tensor&) {
    return x;
  };

  // Set by faults.
  Phases phases;
  double (*divisor)(const Training& training, size_t micro) = TargetsOfWindow;
  // In which pass of a window ranks average their gradients.
  bool (*shares_gradients)(size_t micro, size_t micro_batches) =
      [](size_t micro, size_t micro_batches) { return micro + 1 == micro_batches; };
  Deviations deviations;
  std::optional<Normalization> normalization;  // none: the statistics of the training split
  std::function<uint64_t(uint64_t seed)> order_seed = [](uint64_t seed) { return seed; };
  std::function<void(torch::nn::Module&)> initialize = [](torch::nn::Module&) {};
  std::function<Tensor(Tensor)> features = [](Tensor features) { return features; };  // (B, F)
  std::function<bool(const std::string& parameter)> is_optimized = [](const std::string&) {
    return true;
  };
  std::function<void(int64_t step)> step_begins = [](int64_t) {};
  std::function<Batch(int64_t step, Batch)> batch = [](int64_t, Batch batch) { return batch; };
  std::function<Tensor(Tensor)> logits = [](Tensor logits) { return logits; };  // (B, C)
  std::function<Tensor(int64_t step, Tensor)> loss = [](int64_t, Tensor loss) { return loss; };
};

}  // namespace dlcheck::reference

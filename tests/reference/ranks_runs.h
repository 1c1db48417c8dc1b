// What the tests of ranks share: runs of several, what each ends with, and how they end in error.
#pragma once

#include <torch/torch.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "reference/distributed/process_group/thread_ranks.h"
#include "tests/reference/runs.h"

namespace dlcheck::reference {

struct Trained {
  std::vector<torch::Tensor> weights;
  Counters counters;
};

// What each rank ends with.
inline std::vector<Trained> TrainTogether(const Plan& plan, int64_t world) {
  std::vector<Trained> trained(static_cast<size_t>(world));
  RunThreadRanks(world, [&](const Ranks& ranks) {
    const Outcome outcome = RunPlan(plan, {}, ranks);
    if (outcome.sharded_parameters) outcome.sharded_parameters->Gather();
    trained[static_cast<size_t>(ranks.rank())] = {WeightsOf(outcome), outcome.counters};
  });
  return trained;
}

// Largest distance of a parameter, of its own norm.
inline double Distance(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double norm = b[i].norm().item<double>();
    largest = std::max(largest, (a[i] - b[i]).norm().item<double>() / (norm == 0 ? 1 : norm));
  }
  return largest;
}

inline Plan ShortPlan(const std::string& model = "mlp") {
  Plan plan = DigitsPlan();
  plan.recipe.model = model;
  plan.recipe.steps = 8;
  plan.recipe.evaluate_every = 4;
  return plan;
}

inline Plan GptPlan() {
  Plan plan = ShortPlan("gpt");
  plan.recipe.data.clear();
  plan.recipe.width = 32;
  plan.recipe.depth = 2;
  plan.recipe.heads = 2;
  plan.recipe.context = 16;
  plan.recipe.batch_size = 8;
  plan.recipe.dropout = 0.1;
  plan.recipe.optimizer = "adamw";
  plan.recipe.evaluate_samples = 5;  // of four ranks, not one has as many as another
  return plan;
}

inline std::string ErrorOf(int64_t world, const std::function<void(const Ranks&)>& work) {
  try {
    RunThreadRanks(world, work);
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace dlcheck::reference

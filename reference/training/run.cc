#include "reference/training/run.h"

#include "reference/models/hosted_model.h"
#include "reference/checkpoint/saving.h"

namespace dlcheck::reference {
namespace {

Model BuildModel(const Plan& plan, const Dataset& dataset) {
  const Recipe& recipe = plan.recipe;
  Model model = IsBuiltIn(recipe.model)
                    ? MakeModel(recipe.model, dataset.sample_shape, dataset.classes, recipe.dropout,
                                plan.features)
                    : HostModel(recipe.model, dataset.sample_shape, dataset.classes);
  plan.initialise(*model.module);
  return model;
}

// Weights decay, biases and the scales of batch norm do not: that is what a vector is.
Optimizer BuildOptimizer(const Plan& plan, const Model& model) {
  const Recipe& recipe = plan.recipe;
  Optimizer::Options options;
  options.momentum = recipe.momentum;
  if (recipe.optimizer == "adam") options.rule = Optimizer::Rule::kAdam;
  if (recipe.optimizer == "adamw") options.rule = Optimizer::Rule::kAdamW;
  Optimizer::Group weights{"weights", LearningRate(recipe), recipe.weight_decay, {}};
  Optimizer::Group vectors{"vectors", LearningRate(recipe), 0, {}};
  for (const auto& parameter : model.module->named_parameters()) {
    if (!parameter.value().requires_grad() || !plan.is_optimized(parameter.key())) continue;
    Optimizer::Group& group = parameter.value().dim() > 1 ? weights : vectors;
    group.parameters.push_back({parameter.key(), parameter.value()});
  }
  return Optimizer(options, {weights, vectors});
}

}  // namespace

Outcome RunPlan(const Plan& plan, const Observer& observer) {
  const Recipe& recipe = plan.recipe;
  at::set_num_threads(static_cast<int>(recipe.threads));
  const Dataset dataset =
      LoadDataset(recipe.data.empty() ? DefaultDataPath() : recipe.data, plan.normalisation);
  const auto seed = static_cast<uint64_t>(recipe.seed);
  torch::manual_seed(seed);
  Tell(observer.seeded, recipe.seed);

  Model model = BuildModel(plan, dataset);
  Tell(observer.model, *model.module);
  Optimizer optimizer = BuildOptimizer(plan, model);
  Tell(observer.optimizer, optimizer);
  Batches batches(dataset.train, recipe.batch_size, plan.order_seed(seed));
  Progress progress(recipe.steps);

  Training training{plan, dataset, batches, model, optimizer, observer, progress};
  const Scores scores = Train(training);
  if (!recipe.save.empty()) {
    SaveState(recipe.save, model, optimizer, recipe.steps);
    Tell(observer.saved, recipe.save);
  }
  progress.Finished(scores.loss, scores.accuracy);
  return {scores, model};
}

}  // namespace dlcheck::reference

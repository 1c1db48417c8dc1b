#include "reference/training/build_optimizer.h"

#include <map>
#include <string>
#include <utility>

#include "reference/optimization/groups.h"

namespace dlcheck::reference {
namespace {

// In the place of each parameter what this rank keeps of it, where it keeps any.
void TakeOwnParts(const Shards& shards, std::vector<Optimizer::Group>& groups) {
  std::map<std::string, torch::Tensor> own;
  for (const Shards::Part& part : shards.parts()) own[part.name] = part.own;
  for (Optimizer::Group& group : groups) {
    for (Optimizer::Parameter& parameter : group.parameters) {
      parameter.tensor = own.at(parameter.name);
    }
    std::erase_if(group.parameters, [](const Optimizer::Parameter& parameter) {
      return parameter.tensor.numel() == 0;
    });
  }
}

Optimizer::Options OptionsOf(const Plan& plan) {
  const Recipe& recipe = plan.recipe;
  Optimizer::Options options;
  options.rule = RuleFromName(recipe.optimizer).value();
  options.momentum = Momentum(recipe);
  options.nesterov = recipe.nesterov;
  options.beta1 = recipe.beta1;
  options.beta2 = Beta2(recipe);
  options.epsilon = Epsilon(recipe);
  options.alpha = recipe.alpha;
  options.centered = recipe.centered;
  options.lr_decay = recipe.lr_decay;
  options.momentum_decay = recipe.momentum_decay;
  options.matches_adamw = recipe.adjust_lr == "match_rms_adamw";
  options.amsgrad = recipe.amsgrad;
  options.maximize = recipe.maximize;
  options.master_weights = recipe.weights == "bf16" && recipe.master_weights;
  options.deviation = plan.deviations.optimizer;
  return options;
}

}  // namespace

std::unique_ptr<Optimizer> BuildOptimizer(const Plan& plan, const Model& model,
                                          const Shards* shards) {
  const Recipe& recipe = plan.recipe;
  const Optimizer::Options options = OptionsOf(plan);
  GroupOptions grouping;
  grouping.decay = recipe.decay == "all" ? DecayRule::kAll : DecayRule::kNotVectors;
  grouping.lr = LearningRate(recipe);
  grouping.weight_decay = recipe.weight_decay;
  grouping.is_optimized = plan.is_optimized;
  grouping.rate_factor = [&](const std::string& name) { return RateFactorOf(recipe, name); };
  grouping.has_muon = options.rule == Optimizer::Rule::kMuon;
  grouping.lr_others = recipe.lr_others;
  if (!model.head.is_empty()) grouping.head = model.head->weight;
  std::vector<Optimizer::Group> groups = ParameterGroups(*model.module, grouping);
  if (shards != nullptr) TakeOwnParts(*shards, groups);
  return std::make_unique<Optimizer>(options, std::move(groups));
}

Schedule BuildSchedule(const Recipe& recipe, ScheduleDeviation deviation) {
  Schedule schedule;
  schedule.shape = ShapeFromName(recipe.schedule).value();
  schedule.horizon = (recipe.horizon == 0 ? recipe.steps : recipe.horizon) - recipe.warmup_steps;
  schedule.step_size = recipe.schedule_step_size;
  schedule.gamma = recipe.schedule_gamma;
  schedule.start_factor = recipe.start_factor;
  schedule.end_factor = recipe.end_factor;
  const bool has_floor = recipe.schedule == "cosine" || recipe.schedule == "cooldown" ||
                         recipe.schedule == "cosine_restarts";
  if (has_floor) schedule.floor = recipe.end_factor;
  schedule.milestones = MilestonesOf(recipe.milestones);
  schedule.power = recipe.power;
  schedule.restart_period = recipe.restart_period;
  schedule.restart_factor = recipe.restart_factor;
  schedule.peak_fraction = recipe.peak_fraction;
  schedule.cooldown_fraction = recipe.cooldown_fraction;
  schedule.cooldown_form = CooldownFormFromName(recipe.cooldown_form).value();
  if (recipe.warmup_steps > 0) schedule.warmup = WarmupFromName(recipe.warmup).value();
  schedule.warmup_steps = recipe.warmup_steps;
  schedule.warmup_factor = recipe.warmup_factor;
  schedule.deviation = deviation;
  CheckSchedule(schedule);
  return schedule;
}

}  // namespace dlcheck::reference

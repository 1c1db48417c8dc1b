// What LibTorch's optimizers say they do, so that their steps can be worked out again.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <string>
#include <vector>

#include "dlcheck/probe.h"

namespace dlcheck {

// Null from the time on when another optimizer is built in the place of this one.
using LivingOptimizer = std::shared_ptr<const torch::optim::Optimizer*>;

// SGD, Adam and AdamW with the same options in all groups, but for rates and decay; of any other,
// only whether it keeps state.
Probe::Rule RuleOf(const torch::optim::Optimizer& optimizer, const LivingOptimizer& alive);

// Its parameters, with the rates and decays of their groups as they are when asked.
std::vector<Probe::Group> GroupsOf(const torch::optim::Optimizer& optimizer,
                                   const LivingOptimizer& alive);

// The name of its class and the settings of its first group, as members of an object of JSON.
std::string SettingsOf(const torch::optim::Optimizer& optimizer);

}  // namespace dlcheck

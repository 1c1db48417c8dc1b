#include "reference/optimization/groups.h"

#include <unordered_set>

namespace dlcheck::reference {

std::vector<Optimizer::Group> ParameterGroups(
    const torch::nn::Module& module, DecayRule rule, double lr, double weight_decay,
    const std::function<bool(const std::string& name)>& is_optimized) {
  const bool is_split = rule == DecayRule::kNotVectors;
  std::vector<Optimizer::Group> groups = {{is_split ? "weights" : "all", lr, weight_decay, {}}};
  if (is_split) groups.push_back({"vectors", lr, 0, {}});
  std::unordered_set<const void*> seen;
  for (const auto& item : module.named_parameters()) {
    const torch::Tensor& tensor = item.value();
    if (!tensor.requires_grad() || !is_optimized(item.key())) continue;
    if (!seen.insert(tensor.unsafeGetTensorImpl()).second) continue;
    Optimizer::Group& group = tensor.dim() > 1 ? groups.front() : groups.back();
    group.parameters.push_back({item.key(), tensor});
  }
  return groups;
}

}  // namespace dlcheck::reference

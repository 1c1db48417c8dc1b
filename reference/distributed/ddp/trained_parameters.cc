#include "reference/distributed/ddp/trained_parameters.h"

#include <unordered_set>

namespace dlcheck::reference {

std::vector<std::pair<std::string, torch::Tensor>> TrainedParameters(
    const torch::nn::Module& module) {
  std::vector<std::pair<std::string, torch::Tensor>> trained;
  std::unordered_set<const at::TensorImpl*> seen;
  for (const auto& entry : module.named_parameters()) {
    const torch::Tensor& parameter = entry.value();
    if (!parameter.requires_grad() || !seen.insert(parameter.unsafeGetTensorImpl()).second) {
      continue;
    }
    trained.emplace_back(entry.key(), parameter);
  }
  return trained;
}

}  // namespace dlcheck::reference

#include "reference/distributed/zero/model_blocks.h"

#include <algorithm>
#include <unordered_map>

namespace dlcheck::reference {
namespace {

using torch::nn::Module;

bool IsList(const Module& module) {
  return module.as<torch::nn::Sequential>() != nullptr ||
         module.as<torch::nn::ModuleList>() != nullptr ||
         module.as<torch::nn::ModuleDict>() != nullptr;
}

bool HoldsList(const Module& module) {
  const auto children = module.children();
  return std::any_of(children.begin(), children.end(),
                     [](const auto& child) { return IsList(*child) || HoldsList(*child); });
}

class Division {
 public:
  void Divide(const Module& module) {
    Add(module, /*recurse=*/false);
    for (const auto& child : module.children()) {
      if (!IsList(module) && (IsList(*child) || HoldsList(*child))) {
        Divide(*child);
      } else {
        Add(*child, /*recurse=*/true);
      }
    }
  }

  int64_t BlockOf(const torch::Tensor& parameter) const {
    return blocks_.at(parameter.unsafeGetTensorImpl());
  }

 private:
  void Add(const Module& module, bool recurse) {
    for (const torch::Tensor& parameter : module.parameters(recurse)) {
      blocks_.try_emplace(parameter.unsafeGetTensorImpl(), count_);
    }
    ++count_;
  }

  std::unordered_map<const at::TensorImpl*, int64_t> blocks_;
  int64_t count_ = 0;
};

}  // namespace

std::vector<int64_t> BlocksOf(
    const Module& module, const std::vector<std::pair<std::string, torch::Tensor>>& parameters) {
  Division division;
  division.Divide(module);
  std::vector<int64_t> blocks;
  std::unordered_map<int64_t, int64_t> numbers;
  for (const auto& [name, parameter] : parameters) {
    const int64_t next = static_cast<int64_t>(numbers.size());
    blocks.push_back(numbers.try_emplace(division.BlockOf(parameter), next).first->second);
  }
  return blocks;
}

}  // namespace dlcheck::reference

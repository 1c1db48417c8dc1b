#include "checks/observe/probe/model_tree.h"

#include <algorithm>
#include <typeinfo>
#include <unordered_set>

namespace dlcheck {
namespace {

std::string Joined(const std::string& outer, const std::string& inner) {
  return outer.empty() ? inner : outer + "." + inner;
}

// By name, so that every dimension of dropout and batch norm, and a class of the user's own,
// counts.
bool DependsOnMode(const torch::nn::Module& module) {
  if (const auto* dropout = module.as<torch::nn::Dropout>()) return dropout->options.p() > 0;
  const std::string type = c10::demangle(typeid(module).name());
  return type.find("Dropout") != std::string::npos || type.find("BatchNorm") != std::string::npos;
}

// Of a dropout layer; 0 of another module.
double ProbabilityOf(const torch::nn::Module& module) {
  if (const auto* dropout = module.as<torch::nn::Dropout>()) return dropout->options.p();
  if (const auto* dropout = module.as<torch::nn::Dropout2d>()) return dropout->options.p();
  return 0;
}

void AddModule(const torch::nn::Module& module, const std::string& name, ModelTree& tree) {
  const size_t index = tree.modules.size();
  tree.modules.push_back(
      {name, &module, DependsOnMode(module), module.is_training(), ProbabilityOf(module)});
  for (const auto& item : module.named_parameters(/*recurse=*/false)) {
    if (!item.value().defined()) continue;
    tree.parameters.push_back({Joined(name, item.key()), index, item.value()});
  }
  for (const auto& item : module.named_buffers(/*recurse=*/false)) {
    if (!item.value().defined()) continue;
    tree.buffers.push_back({Joined(name, item.key()), index, item.value()});
  }
  for (const auto& child : module.named_children()) {
    if (child.value()) AddModule(*child.value(), Joined(name, child.key()), tree);
  }
}

}  // namespace

ModelTree ModelTree::Of(const torch::nn::Module& model) {
  ModelTree tree;
  const std::string type = c10::demangle(typeid(model).name());
  tree.type = type.substr(type.rfind(':') + 1);
  AddModule(model, "", tree);
  return tree;
}

std::vector<at::Tensor> ModelTree::Contents() const {
  std::vector<at::Tensor> contents;
  for (const Tensor& item : parameters) contents.push_back(item.tensor);
  for (const Tensor& item : buffers) contents.push_back(item.tensor);
  return contents;
}

bool ModelTree::IsPartOf(const ModelTree& other) const {
  std::unordered_set<const at::TensorImpl*> known;
  for (const Tensor& item : other.parameters) known.insert(item.tensor.unsafeGetTensorImpl());
  return !parameters.empty() &&
         std::all_of(parameters.begin(), parameters.end(), [&](const Tensor& item) {
           return known.count(item.tensor.unsafeGetTensorImpl()) > 0;
         });
}

}  // namespace dlcheck

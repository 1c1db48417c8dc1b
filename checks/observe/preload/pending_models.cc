#include "checks/observe/preload/pending_models.h"

#include <algorithm>
#include <utility>

namespace dlcheck {
namespace {

constexpr size_t kMostPending = 64;     // models that wait
constexpr size_t kMostKnown = 1 << 20;  // parameters, so that a search over many models ends

bool Lock(const std::vector<c10::weak_intrusive_ptr<at::TensorImpl>>& weak,
          std::vector<ModelTree::Tensor>& items) {
  for (size_t i = 0; i < weak.size(); ++i) {
    c10::intrusive_ptr<at::TensorImpl> tensor = weak[i].lock();
    if (!tensor) return false;
    items[i].tensor = at::Tensor(std::move(tensor));
  }
  return true;
}

std::vector<c10::weak_intrusive_ptr<at::TensorImpl>> Weaken(std::vector<ModelTree::Tensor>& items) {
  std::vector<c10::weak_intrusive_ptr<at::TensorImpl>> weak;
  for (ModelTree::Tensor& item : items) {
    weak.emplace_back(item.tensor.getIntrusivePtr());
    item.tensor.reset();
  }
  return weak;
}

}  // namespace

bool PendingModels::IsKnown(const torch::nn::Module& model) const {
  const std::vector<at::Tensor> parameters = model.parameters();
  return std::all_of(parameters.begin(), parameters.end(), [this](const at::Tensor& parameter) {
    return known_.count(parameter.unsafeGetTensorImpl()) > 0;
  });
}

void PendingModels::Saw(const torch::nn::Module& model) {
  if (entries_.size() >= kMostPending || known_.size() >= kMostKnown || IsKnown(model)) return;
  Entry entry;
  entry.tree = ModelTree::Of(model);
  for (const ModelTree::Tensor& item : entry.tree.parameters) {
    known_.insert(item.tensor.unsafeGetTensorImpl());
  }
  entry.parameters = Weaken(entry.tree.parameters);
  entry.buffers = Weaken(entry.tree.buffers);
  entries_.push_back(std::move(entry));
}

std::optional<ModelTree> PendingModels::Locked(const Entry& entry) {
  ModelTree tree = entry.tree;
  if (!Lock(entry.parameters, tree.parameters) || !Lock(entry.buffers, tree.buffers)) {
    return std::nullopt;
  }
  return tree;
}

std::vector<ModelTree> PendingModels::Take() {
  std::vector<ModelTree> trees;
  for (const Entry& entry : std::exchange(entries_, {})) {
    if (std::optional<ModelTree> tree = Locked(entry)) trees.push_back(*std::move(tree));
  }
  std::vector<ModelTree> whole;
  for (size_t i = 0; i < trees.size(); ++i) {
    bool is_part = false;
    for (size_t j = 0; j < trees.size(); ++j) is_part |= i != j && trees[i].IsPartOf(trees[j]);
    if (!is_part) whole.push_back(trees[i]);
  }
  return whole;
}

}  // namespace dlcheck

#include "checks/observe/preload/forgotten_weights.h"

#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dlcheck {
namespace {

using torch::autograd::Node;

constexpr int kSteps = 8;                   // that are looked at
constexpr int kStepsAlike = 3;              // in which a weight has to be seen, always the same
constexpr size_t kMostWeights = 64;         // that are followed
constexpr size_t kMostGraphNodes = 20'000;  // of a graph

// Whether the operation takes a weight or a bias of a layer at this place. Whatever else has a
// gradient may be data: an image that is attacked, the points of a physical equation.
bool TakesWeight(const std::string& operation, size_t place) {
  if (operation == "ConvolutionBackward0") return place == 1 || place == 2;
  if (operation == "NativeLayerNormBackward0" || operation == "NativeBatchNormBackward0") {
    return place == 1 || place == 2;
  }
  return (operation == "AddmmBackward0" || operation == "EmbeddingBackward0") && place == 0;
}

// The second factor of a product, through the transposition of a linear layer.
bool TakesTransposed(const std::string& operation, size_t place) {
  return (operation == "AddmmBackward0" && place == 2) ||
         (operation == "MmBackward0" && place == 1);
}

const at::Tensor* WeightOf(Node* node) {
  auto* leaf = dynamic_cast<torch::autograd::AccumulateGrad*>(node);
  return leaf == nullptr ? nullptr : &leaf->variable;
}

// The weight that an operation takes at this place; null where it takes something else there.
const at::Tensor* WeightAt(Node* node, const std::string& operation, size_t place) {
  Node* behind = node->next_edge(place).function.get();
  if (behind == nullptr) return nullptr;
  if (TakesTransposed(operation, place) && behind->name() == "TBackward0") {
    Node* transposed = behind->next_edge(0).function.get();
    return transposed == nullptr ? nullptr : WeightOf(transposed);
  }
  return TakesWeight(operation, place) ? WeightOf(behind) : nullptr;
}

struct Weight {
  at::Tensor tensor;
  bool is_behind_known;  // a known weight lies between it and the loss
};

// The weights in a graph that no model or optimizer is known to have.
std::vector<Weight> UnknownIn(const std::shared_ptr<Node>& root, const ProbeModels& models) {
  std::vector<std::pair<Node*, bool>> nodes = {{root.get(), false}};
  std::unordered_map<Node*, bool> met = {{root.get(), false}};
  std::vector<Weight> unknown;
  for (size_t i = 0; i < nodes.size() && i < kMostGraphNodes; ++i) {
    const auto [node, is_behind_known] = nodes[i];
    const std::string operation = node->name();
    bool takes_known = is_behind_known;
    for (size_t place = 0; place < node->num_outputs(); ++place) {
      const at::Tensor* weight = WeightAt(node, operation, place);
      if (weight == nullptr) continue;
      const bool is_known = models.Has(*weight);
      takes_known |= is_known;
      if (!is_known) unknown.push_back({*weight, is_behind_known});
    }
    for (size_t place = 0; place < node->num_outputs(); ++place) {
      Node* behind = node->next_edge(place).function.get();
      if (behind == nullptr) continue;
      const auto [found, is_new] = met.try_emplace(behind, takes_known);
      if (!is_new && found->second >= takes_known) continue;
      found->second = takes_known;
      nodes.emplace_back(behind, takes_known);
    }
  }
  return unknown;
}

// What a layer takes beside its weights; undefined where that is not known.
at::Tensor TakenBy(const at::RecordFunction& function) {
  const size_t place = std::string_view(function.name()) == "aten::addmm" ? 1 : 0;
  const auto inputs = function.inputs();
  const bool is_there = inputs.size() > place && inputs[place].isTensor();
  return is_there ? inputs[place].toTensor() : at::Tensor();
}

}  // namespace

void ForgottenWeights::Look(const at::Tensor& root, ProbeRecorder& recorder) {
  const int64_t step = recorder.clock().step();
  if (steps_ >= kSteps || step == last_step_ || root.grad_fn() == nullptr) return;
  last_step_ = step;
  ++steps_;
  std::unordered_map<const at::TensorImpl*, Weight> unknown;
  for (const Weight& weight : UnknownIn(root.grad_fn(), recorder.models())) {
    const auto [found, is_new] = unknown.try_emplace(weight.tensor.unsafeGetTensorImpl(), weight);
    found->second.is_behind_known |= weight.is_behind_known;
  }
  for (const auto& [address, weight] : unknown) {
    built_.Depends(weight.tensor, recorder);
    SawWeight(weight.tensor, weight.is_behind_known, recorder);
  }
}

void ForgottenWeights::SawUse(const at::RecordFunction& function, bool in_forward) {
  for (const c10::IValue& input : function.inputs()) {
    if (!input.isTensor() || !input.toTensor().defined()) continue;
    const auto found = seen_.find(input.toTensor().unsafeGetTensorImpl());
    if (found == seen_.end()) continue;
    const at::Tensor taken = TakenBy(function);
    if (!taken.defined() || taken.is_same(input.toTensor())) continue;
    Seen& seen = found->second;
    if (taken.requires_grad()) {
      seen.takes_outputs = true;
    } else if (at::GradMode::is_enabled() || !in_forward) {
      seen.takes_data = true;
    }
    measures_ |= seen.measures();
  }
}

// Beside a network that measures outputs, a layer is only known to be forgotten if known ones come
// after it.
void ForgottenWeights::SawWeight(const at::Tensor& weight, bool is_behind_known,
                                 ProbeRecorder& recorder) {
  if (!weight.device().is_cpu() || weight.layout() != at::kStrided) return;
  if (seen_.size() >= kMostWeights && seen_.count(weight.unsafeGetTensorImpl()) == 0) return;
  const double sum = weight.detach().sum(at::kDouble).item<double>();
  const Weak weak(weight.getIntrusivePtr());
  const auto [found, is_new] = seen_.try_emplace(weight.unsafeGetTensorImpl(), Seen{weak, sum, 1});
  if (is_new) return;
  Seen& seen = found->second;
  if (!seen.tensor.lock() || seen.sum != sum) {  // another one in its place, or it was moved
    seen = Seen{weak, sum, 1};
    return;
  }
  if (++seen.steps < kStepsAlike || !weight.grad().defined()) return;
  if (measures_ && !is_behind_known) return;
  const std::string shape = Shape(weight);
  const int number = ++told_[shape];
  const std::string name = number == 1 ? "a weight" : "weight " + std::to_string(number);
  recorder.models().AddForgotten(weight, name + " of shape " + shape + " in no known module");
}

}  // namespace dlcheck

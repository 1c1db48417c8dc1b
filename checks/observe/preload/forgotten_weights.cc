#include "checks/observe/preload/forgotten_weights.h"

#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include <string>
#include <unordered_set>
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

std::vector<at::Tensor> WeightsIn(const std::shared_ptr<Node>& root) {
  std::vector<Node*> nodes = {root.get()};
  std::unordered_set<Node*> met = {root.get()};
  std::vector<at::Tensor> weights;
  for (size_t i = 0; i < nodes.size() && i < kMostGraphNodes; ++i) {
    const std::string operation = nodes[i]->name();
    for (size_t place = 0; place < nodes[i]->num_outputs(); ++place) {
      Node* behind = nodes[i]->next_edge(place).function.get();
      if (behind == nullptr) continue;
      if (met.insert(behind).second) nodes.push_back(behind);
      const at::Tensor* weight = TakesWeight(operation, place) ? WeightOf(behind) : nullptr;
      if (TakesTransposed(operation, place) && behind->name() == "TBackward0") {
        Node* transposed = behind->next_edge(0).function.get();
        weight = transposed == nullptr ? nullptr : WeightOf(transposed);
      }
      if (weight != nullptr) weights.push_back(*weight);
    }
  }
  return weights;
}

}  // namespace

void ForgottenWeights::Look(const at::Tensor& root, ProbeRecorder& recorder) {
  const int64_t step = recorder.clock().step();
  if (steps_ >= kSteps || step == last_step_ || root.grad_fn() == nullptr) return;
  last_step_ = step;
  ++steps_;
  std::unordered_set<const at::TensorImpl*> looked_at;
  for (const at::Tensor& weight : WeightsIn(root.grad_fn())) {
    if (recorder.models().Find(weight) != nullptr) continue;
    if (looked_at.insert(weight.unsafeGetTensorImpl()).second) SawWeight(weight, recorder);
  }
}

void ForgottenWeights::SawWeight(const at::Tensor& weight, ProbeRecorder& recorder) {
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
  const std::string shape = Shape(weight);
  const int number = ++told_[shape];
  const std::string name = number == 1 ? "a weight" : "weight " + std::to_string(number);
  recorder.models().AddForgotten(weight, name + " of shape " + shape + " in no known module");
}

}  // namespace dlcheck

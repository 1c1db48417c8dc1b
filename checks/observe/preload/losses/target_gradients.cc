#include "checks/observe/preload/losses/target_gradients.h"

#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include <unordered_set>
#include <vector>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/preload/graph_nodes.h"

namespace dlcheck {
namespace {

using torch::autograd::Node;

constexpr int kMostCalls = 16;
constexpr size_t kMostNodesBehindTarget = 256;

// How many parameters of models the graph reaches, as far as it is walked.
int64_t ParametersBehind(Node* node, ProbeRecorder& recorder) {
  std::vector<Node*> waiting = {node};
  std::unordered_set<const Node*> met = {node};
  std::unordered_set<const at::TensorImpl*> found;
  while (!waiting.empty() && met.size() < kMostNodesBehindTarget) {
    const Node* next = waiting.back();
    waiting.pop_back();
    for (const torch::autograd::Edge& edge : next->next_edges()) {
      Node* before = edge.function.get();
      if (before == nullptr || !met.insert(before).second) continue;
      waiting.push_back(before);
      if (!IsLeaf(*before)) continue;
      const at::Tensor& leaf =
          static_cast<const torch::autograd::AccumulateGrad*>(before)->variable;
      if (recorder.models().Has(leaf)) found.insert(leaf.unsafeGetTensorImpl());
    }
  }
  return static_cast<int64_t>(found.size());
}

}  // namespace

void TargetGradients::Given(const LossGiven& loss, ProbeRecorder& recorder) {
  if (calls_ >= kMostCalls || loss.targets.grad_fn() == nullptr) return;
  ++calls_;
  const int64_t found = ParametersBehind(loss.targets.grad_fn().get(), recorder);
  if (found == 0) return;
  recorder.clock().Put(Quantity::kTargetGradient, {loss.thing, 0, recorder.Site(CallSite())},
                       static_cast<double>(found), loss.outputs.requires_grad() ? 0 : 1);
}

}  // namespace dlcheck

#include "checks/observe/preload/kept_graphs.h"

#include <algorithm>
#include <string>

namespace dlcheck {
namespace {

constexpr int64_t kMostGraphs = 256;  // that are looked at
constexpr int kMostScalings = 4;

// A program may keep the loss, and divide it by a number for the backward alone. A factor with a
// gradient may live for ever.
std::shared_ptr<torch::autograd::Node> BeforeScaling(std::shared_ptr<torch::autograd::Node> node) {
  for (int i = 0; i < kMostScalings && node != nullptr; ++i) {
    const std::string name = node->name();
    if (name.rfind("DivBackward", 0) != 0 && name.rfind("MulBackward", 0) != 0) break;
    std::shared_ptr<torch::autograd::Node> before;
    for (const torch::autograd::Edge& edge : node->next_edges()) {
      if (edge.function == nullptr) continue;
      if (before != nullptr) return node;
      before = edge.function;
    }
    if (before == nullptr || before->name() == "torch::autograd::AccumulateGrad") break;
    node = before;
  }
  return node;
}

}  // namespace

void KeptGraphs::Add(const at::Tensor& root) {
  if (root.grad_fn() == nullptr) return;
  graphs_.emplace_back(BeforeScaling(root.grad_fn()), seen_++);
}

void KeptGraphs::StepEnded(ProbeRecorder& recorder) {
  if (earlier_ > 0) {
    const int64_t first = earlier_ - kMostGraphs;
    graphs_.erase(std::remove_if(graphs_.begin(), graphs_.end(),
                                 [first](const auto& graph) {
                                   return graph.second < first || graph.first.expired();
                                 }),
                  graphs_.end());
    const auto alive = std::count_if(graphs_.begin(), graphs_.end(),
                                     [this](const auto& graph) { return graph.second < earlier_; });
    recorder.clock().Put(Quantity::kLiveGraphs, {}, static_cast<double>(alive),
                         static_cast<double>(std::min(earlier_, kMostGraphs)));
  }
  earlier_ = seen_;
}

}  // namespace dlcheck

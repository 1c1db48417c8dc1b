#include "checks/observe/preload/losses/norm_over_batch.h"

#include <string>
#include <utility>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/preload/graph_nodes.h"

namespace dlcheck {
namespace {

using torch::autograd::Node;

constexpr size_t kMostGradientsOfStep = 64;
constexpr int kLongestWayToGradient = 16;

bool IsNormNode(const std::string& name) {
  return name == "LinalgVectorNormBackward0" || name.rfind("NormBackward", 0) == 0;
}

}  // namespace

void NormOverBatch::GradientsGiven(const std::vector<at::Tensor>& inputs,
                                   const std::vector<at::Tensor>& gradients,
                                   ProbeRecorder& recorder) {
  if (is_told_ || gradients_.size() >= kMostGradientsOfStep || inputs.empty()) return;
  if (gradients.empty() || !gradients.front().defined() || recorder.models().Has(inputs.front())) {
    return;
  }
  const at::Tensor& gradient = gradients.front();
  if (gradient.grad_fn() == nullptr || gradient.dim() < 2 || gradient.size(0) < 2) return;
  gradients_.push_back({gradient.grad_fn(), gradient.size(0), CallSite()});
}

void NormOverBatch::Look(const WalkedGraph& graph, ProbeRecorder& recorder) {
  const std::vector<Gradient> gradients = std::exchange(gradients_, {});
  if (gradients.empty() || is_told_) return;
  for (const Node* norm : graph.nodes) {
    if (!IsNormNode(norm->name()) || !GivesOneNumber(*norm)) continue;
    const Node* node = OnlyInput(*norm);
    for (int i = 0; i < kLongestWayToGradient && node != nullptr && !is_told_; ++i) {
      for (const Gradient& gradient : gradients) {
        if (gradient.node.lock().get() != node || std::exchange(is_told_, true)) continue;
        ProbeClock& clock = recorder.clock();
        clock.Put(Quantity::kNormOverBatch,
                  {clock.writer().Thing("operation", 0, "loss"), 0, recorder.Site(gradient.site)},
                  static_cast<double>(gradient.samples));
      }
      node = IsArranging(node->name()) ? OnlyInput(*node) : nullptr;
    }
  }
}

}  // namespace dlcheck

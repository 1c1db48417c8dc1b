#include "checks/observe/preload/losses/unused_losses.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "checks/observe/preload/call_sites.h"

namespace dlcheck {
namespace {

using torch::autograd::Node;

constexpr size_t kMostNodesToLosses = 512;
constexpr size_t kMostLossesOfStep = 1024;

}  // namespace

void UnusedLosses::Given(const LossGiven& loss, ProbeRecorder& recorder) {
  if (!recorder.clock().is_detailed() || loss.result.grad_fn() == nullptr) return;
  is_known_ = is_known_ && losses_.size() < kMostLossesOfStep;
  if (is_known_) losses_.push_back({loss.result.grad_fn(), recorder.Site(CallSite())});
}

void UnusedLosses::BackwardBegins(const at::Tensor& root) {
  if (losses_.empty() || !is_known_ || root.grad_fn() == nullptr) return;
  std::unordered_map<const Node*, Loss*> of_node;
  for (Loss& loss : losses_) {
    const auto node = loss.node.lock();
    if (node) of_node[node.get()] = &loss;
  }
  std::vector<const Node*> waiting = {root.grad_fn().get()};
  std::unordered_set<const Node*> met;
  while (!waiting.empty()) {
    const Node* node = waiting.back();
    waiting.pop_back();
    if (!met.insert(node).second) continue;
    is_known_ = met.size() <= kMostNodesToLosses;
    if (!is_known_) return;
    const auto found = of_node.find(node);
    if (found != of_node.end()) {
      found->second->is_reached = true;
      continue;
    }
    for (const torch::autograd::Edge& edge : node->next_edges()) {
      if (edge.function) waiting.push_back(edge.function.get());
    }
  }
}

void UnusedLosses::StepEnds(int optimizer, ProbeRecorder& recorder) {
  const std::vector<Loss> losses = std::exchange(losses_, {});
  if (!std::exchange(is_known_, true)) return;
  std::unordered_map<uint32_t, std::vector<bool>> lines;
  for (const Loss& loss : losses) lines[loss.line].push_back(loss.is_reached);
  ProbeClock& clock = recorder.clock();
  for (const auto& [line, reached] : lines) {
    size_t used = 0;
    for (const bool is_reached : reached) used += is_reached ? 1 : 0;
    const bool is_last_alone = used == 1 && reached.back();
    const uint32_t owner = recorder.Optimizer(optimizer).thing();
    clock.Put(Quantity::kUnusedLosses, {clock.writer().Thing("loss", 0, "losses"), owner, line},
              is_last_alone ? static_cast<double>(reached.size() - 1) : 0,
              static_cast<double>(reached.size()));
  }
}

}  // namespace dlcheck

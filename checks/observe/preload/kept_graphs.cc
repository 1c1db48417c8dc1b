#include "checks/observe/preload/kept_graphs.h"

#include <algorithm>
#include <string>
#include <utility>

namespace dlcheck {
namespace {

constexpr int64_t kMostGraphs = 256;  // that are looked at
constexpr int kMostScalings = 4;
constexpr size_t kMostLines = 16;

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

void KeptGraphs::Add(const at::Tensor& root, const Probe::Site& site) {
  if (root.grad_fn() == nullptr) return;
  auto line = std::find_if(lines_.begin(), lines_.end(),
                           [&](const Line& known) { return known.site.file == site.file; });
  if (line == lines_.end()) {
    if (lines_.size() >= kMostLines) return;
    line = lines_.insert(lines_.end(), Line{site, {}});
  }
  line->graphs.push_back({BeforeScaling(root.grad_fn()), line->seen++});
}

void KeptGraphs::StepEnded(ProbeRecorder& recorder) {
  for (size_t i = 0; i < lines_.size(); ++i) {
    Line& line = lines_[i];
    const int64_t earlier = std::exchange(line.earlier, line.seen);
    if (earlier == line.seen || earlier == 0) continue;
    const int64_t first = earlier - kMostGraphs;
    line.graphs.erase(std::remove_if(line.graphs.begin(), line.graphs.end(),
                                     [first](const Graph& graph) {
                                       return graph.number < first || graph.node.expired();
                                     }),
                      line.graphs.end());
    const auto alive =
        std::count_if(line.graphs.begin(), line.graphs.end(),
                      [earlier](const Graph& graph) { return graph.number < earlier; });
    const uint32_t thing =
        recorder.clock().writer().Thing("backward", static_cast<uint32_t>(i), "");
    recorder.clock().Put(Quantity::kLiveGraphs, {thing, 0, recorder.Site(line.site)},
                         static_cast<double>(alive),
                         static_cast<double>(std::min(earlier, kMostGraphs)));
  }
}

}  // namespace dlcheck

#include "checks/observe/preload/constant_terms.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "checks/observe/preload/call_sites.h"

namespace dlcheck {
namespace {

using torch::autograd::Node;

constexpr int kStepsConstant = 3;
constexpr size_t kMostNodesOfTerms = 16;

bool IsOneNumber(const Node& node) {
  return node.num_inputs() == 1 && node.input_metadata(0).shape_as_dim_vector().empty();
}

// Whether a number without a graph was added to a part of the loss that has one.
bool HasConstantTerm(const at::Tensor& root) {
  std::vector<Node*> waiting = {root.grad_fn().get()};
  for (size_t i = 0; i < waiting.size() && i < kMostNodesOfTerms; ++i) {
    const std::string name = waiting[i]->name();
    const auto& edges = waiting[i]->next_edges();
    const bool adds = name == "AddBackward0" || name == "SubBackward0";
    const bool scales = name.rfind("MulBackward", 0) == 0 || name.rfind("DivBackward", 0) == 0;
    if (!IsOneNumber(*waiting[i]) || (!adds && !scales)) continue;
    if (adds && edges.size() > 1 &&
        std::any_of(edges.begin(), edges.end(), [](const auto& e) { return !e.function; })) {
      return true;
    }
    for (const auto& edge : edges) {
      if (edge.function != nullptr) waiting.push_back(edge.function.get());
    }
  }
  return false;
}

}  // namespace

void ConstantTerms::GradientsAsked(const std::vector<at::Tensor>& inputs, bool creates_graph,
                                   ProbeRecorder& recorder) {
  if (creates_graph || !recorder.clock().sampled() || inputs.empty()) return;
  const bool of_weights = std::any_of(inputs.begin(), inputs.end(), [&](const at::Tensor& input) {
    return !input.defined() || recorder.models().Has(input);
  });
  if (of_weights) return;
  asked_ = recorder.clock().step();
  site_ = CallSite();
}

void ConstantTerms::Look(const at::Tensor& root, ProbeRecorder& recorder) {
  const int64_t step = recorder.clock().step();
  if (asked_ != step || root.grad_fn() == nullptr || steps_ >= kStepsConstant) return;
  if (!HasConstantTerm(root) || std::exchange(last_step_, step) == step) return;
  if (++steps_ < kStepsConstant) return;
  const uint32_t thing = recorder.clock().writer().Thing("loss", 0, "loss");
  recorder.clock().Put(Quantity::kConstantTerm, {thing, 0, recorder.Site(site_)}, 1);
}

}  // namespace dlcheck

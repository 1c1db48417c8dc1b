#include "checks/observe/preload/repeated_activations.h"

#include <string_view>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/preload/graph_nodes.h"

namespace dlcheck {
namespace {

using torch::autograd::Node;

constexpr int kMostReshapes = 4;  // between two activations

const char* ActivationOf(const Node& node) {
  const std::string name = node.name();
  if (name == "ReluBackward0") return "relu";
  if (name == "SigmoidBackward0") return "sigmoid";
  return name == "TanhBackward0" ? "tanh" : nullptr;
}

bool OnlyShapes(const Node& node) {
  const std::string name = node.name();
  return name == "ViewBackward0" || name == "UnsafeViewBackward0" ||
         name == "ReshapeAliasBackward0" || name == "SqueezeBackward1" ||
         name == "UnsqueezeBackward0" || name == "CloneBackward0";
}

}  // namespace

void RepeatedActivations::Returned(const at::RecordFunction& function, ProbeRecorder& recorder) {
  if (function.outputs().empty() || !function.outputs()[0].isTensor()) return;
  const at::Tensor& result = function.outputs()[0].toTensor();
  if (!result.defined() || result.grad_fn() == nullptr) return;
  const Node& node = *result.grad_fn();
  const char* const activation = ActivationOf(node);
  const Node* before = activation == nullptr ? nullptr : OnlyInput(node);
  for (int i = 0; i < kMostReshapes && before != nullptr && OnlyShapes(*before); ++i) {
    before = OnlyInput(*before);
  }
  if (before == nullptr || before->name() != node.name()) return;
  const Probe::Site line = CallSite();
  if (!told_.insert(line.file).second) return;
  const uint32_t thing = recorder.clock().writer().Thing("operation", 0, activation);
  recorder.clock().Put(Quantity::kRepeatedActivation, {thing, 0, recorder.Site(line)}, 1);
}

}  // namespace dlcheck

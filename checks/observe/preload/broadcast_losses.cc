#include "checks/observe/preload/broadcast_losses.h"

#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "checks/observe/probe/probe_models.h"

namespace dlcheck {
namespace {

constexpr int kStepsBroadcast = 3;     // whose loss has to be made of such a difference
constexpr size_t kMostLossNodes = 32;  // between a loss and the difference

// Whether the program made a column of its outputs, as it does for all pairs. Targets may have been
// made a column long before.
bool WroteColumn(const at::Tensor& column) {
  const auto& node = column.grad_fn();
  return node != nullptr && node->name().rfind("UnsqueezeBackward", 0) == 0;
}

// A column (n, 1) and a row (n), of which the program learns one.
bool AreColumnAndRow(const at::Tensor& a, const at::Tensor& b) {
  if (!a.defined() || !b.defined() || a.dim() + b.dim() != 3 || a.dim() == 0 || b.dim() == 0) {
    return false;
  }
  const at::Tensor& column = a.dim() == 2 ? a : b;
  const at::Tensor& row = a.dim() == 2 ? b : a;
  return column.size(1) == 1 && column.size(0) == row.size(0) && row.size(0) > 1 &&
         a.requires_grad() != b.requires_grad() && !WroteColumn(column);
}

const at::Tensor& TensorOf(const c10::IValue& value) {
  static const auto* none = new at::Tensor;
  return value.isTensor() ? value.toTensor() : *none;
}

// The outputs first.
std::string ShapesOf(const at::Tensor& a, const at::Tensor& b) {
  return a.requires_grad() ? Shape(a) + " and " + Shape(b) : Shape(b) + " and " + Shape(a);
}

// Operations that make one number of differences, each alone.
bool IsOfLoss(const std::string& node) {
  static const auto* names = new std::unordered_set<std::string_view>{
      "Mean", "Sum", "Sub",  "Pow",   "Abs",   "Mul",  "Div",
      "Add",  "Neg", "Sqrt", "Where", "Log1P", "Cosh", "Log"};
  const size_t end = node.find("Backward");
  return end != std::string::npos && names->count(std::string_view(node).substr(0, end)) > 0;
}

}  // namespace

bool BroadcastLosses::MayBroadcast(const at::RecordFunction& function) {
  const std::string_view name = function.name();
  return name == "aten::sub" || name == "aten::broadcast_tensors";
}

bool BroadcastLosses::Broadcasts(const at::RecordFunction& function) {
  const bool subtracts = std::string_view(function.name()) == "aten::sub";
  const auto inputs = function.inputs();
  if (subtracts) {
    const bool are =
        inputs.size() >= 2 && AreColumnAndRow(TensorOf(inputs[0]), TensorOf(inputs[1]));
    if (are) shapes_ = ShapesOf(TensorOf(inputs[0]), TensorOf(inputs[1]));
    return are;
  }
  expanded_.clear();
  if (inputs.empty() || !inputs[0].isTensorList()) return false;
  const auto tensors = inputs[0].toTensorVector();
  if (tensors.size() == 2 && AreColumnAndRow(tensors[0], tensors[1])) {
    expanded_ = ShapesOf(tensors[0], tensors[1]);
  }
  return false;
}

void BroadcastLosses::Returned(const at::RecordFunction& function) {
  // What went into it may be gone.
  if (!function.outputs().empty()) difference_ = TensorOf(function.outputs()[0]).grad_fn();
}

void BroadcastLosses::Look(const at::Tensor& root, ProbeRecorder& recorder) {
  const std::shared_ptr<torch::autograd::Node> made = difference_.lock();
  if (made == nullptr || recorder.clock().step() == last_step_ || steps_ >= kStepsBroadcast) return;
  std::vector<torch::autograd::Node*> nodes = {root.grad_fn().get()};
  for (size_t i = 0; i < nodes.size() && i < kMostLossNodes; ++i) {
    if (nodes[i] == made.get()) {
      last_step_ = recorder.clock().step();
      if (++steps_ < kStepsBroadcast) return;
      ProbeClock& clock = recorder.clock();
      clock.writer().Attribute(clock.writer().Thing("loss", 0, "loss"), "broadcast", shapes_);
      return;
    }
    if (nodes[i] == nullptr || !IsOfLoss(nodes[i]->name())) continue;
    for (const torch::autograd::Edge& edge : nodes[i]->next_edges()) {
      if (edge.function != nullptr) nodes.push_back(edge.function.get());
    }
  }
}

std::string BroadcastLosses::LossGiven(const at::Tensor& outputs, const at::Tensor& targets) {
  const std::string expanded = std::exchange(expanded_, "");
  if (AreColumnAndRow(outputs, targets)) return ShapesOf(outputs, targets);
  const bool are_expanded = outputs.dim() == 2 && outputs.size(0) == outputs.size(1) &&
                            outputs.sizes() == targets.sizes();
  return are_expanded ? expanded : "";
}

}  // namespace dlcheck

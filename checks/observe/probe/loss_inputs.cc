#include "checks/observe/probe/loss_inputs.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dlcheck {
namespace {

constexpr double kNearZero = 0.1;  // the logarithm of a sum of probabilities, in half precision too
constexpr double kNearOne = 1e-4;
constexpr int64_t kMostRows = 4096;
constexpr size_t kMostNodesBehind = 64;
// Positions that targets may run ahead of tokens, and how many must agree. As in the Python probe.
constexpr int64_t kLeastShift = -1, kMostShift = 3;
constexpr int64_t kFewestTokens = 16;

using NodePointer = std::shared_ptr<torch::autograd::Node>;

bool ChangesShapeOnly(const std::string& operation) {
  static const auto* names = new std::set<std::string>{
      "View", "UnsafeView", "ReshapeAlias", "Squeeze", "Unsqueeze", "Transpose", "Permute", "T"};
  return names->count(operation) > 0;
}

// Of PyTorch's own, as "AddmmBackward0"; others are functions of the program.
bool IsNative(const std::string& name) {
  const std::string stem = name.substr(0, name.find_last_not_of("0123456789") + 1);
  const auto ends_with = [&stem](const std::string& tail) {
    return stem.size() >= tail.size() &&
           stem.compare(stem.size() - tail.size(), tail.size(), tail) == 0;
  };
  return ends_with("Backward") || ends_with("AccumulateGrad") || ends_with("CopySlices");
}

// What may have made log-probabilities of a tensor, close behind it; empty if nothing did.
std::string NormalizerOf(const at::Tensor& tensor) {
  std::vector<std::shared_ptr<torch::autograd::Node>> nodes = {tensor.grad_fn()};
  for (size_t i = 0; i < nodes.size() && i < kMostNodesBehind; ++i) {
    if (nodes[i] == nullptr) continue;
    const std::string name = nodes[i]->name();
    std::string small = name;
    std::transform(small.begin(), small.end(), small.begin(),
                   [](unsigned char letter) { return std::tolower(letter); });
    if (small.find("log") != std::string::npos || !IsNative(name)) return name;
    const torch::autograd::edge_list edges = nodes[i]->next_edges();
    for (const torch::autograd::Edge& edge : edges) nodes.push_back(edge.function);
  }
  return "";
}

bool MadeBy(const std::shared_ptr<torch::autograd::Node>& node, const char* name) {
  return node != nullptr && node->name().rfind(name, 0) == 0;
}

// What made the numbers that a node gives, and the node that did; "" and null for anything else.
std::pair<std::string, NodePointer> MadeAt(NodePointer node) {
  static const auto* makers = new std::map<std::string, const char*>{{"Softmax", "softmax"},
                                                                     {"LogSoftmax", "log_softmax"},
                                                                     {"Sigmoid", "sigmoid"},
                                                                     {"Tanh", "tanh"},
                                                                     {"Relu", "relu"}};
  for (size_t i = 0; i < kMostNodesBehind && node != nullptr; ++i) {
    const std::string name = node->name();
    const std::string operation = name.substr(0, name.find("Backward"));
    const auto maker = makers->find(operation);
    if (maker != makers->end()) return {maker->second, node};
    if (!ChangesShapeOnly(operation)) break;
    node = node->next_edge(0).function;
  }
  return {"", nullptr};
}

bool Fits(const at::Tensor& tokens, const at::Tensor& rows, int64_t shift) {
  const int64_t first = std::max<int64_t>(0, -shift);
  const int64_t last = std::min(rows.size(1), tokens.size(1) - shift);
  if (last <= first) return false;
  const at::Tensor part = rows.narrow(1, first, last - first);
  const at::Tensor meant = tokens.narrow(1, first + shift, last - first);
  const at::Tensor counted = part.ge(0);
  return counted.sum().item<int64_t>() >= kFewestTokens &&
         part.eq(meant).logical_or(counted.logical_not()).all().item<bool>();
}

}  // namespace

void WriteRows(ProbeClock& clock, uint32_t thing, const LossCall& call) {
  if (call.kind != "kl") {
    const at::Tensor targets = call.targets.detach();
    const auto total = static_cast<double>(targets.numel());
    clock.Put(Quantity::kCountedTargets, {thing}, targets.ge(0).sum().item<double>(), total);
  }
  const int64_t count = std::min(call.outputs.size(0), kMostRows);
  if (count == 0) return;
  const at::Tensor rows = call.outputs.detach().narrow(0, 0, count).to(at::kDouble);
  const auto size = static_cast<double>(count);
  if (call.kind == "cross_entropy") {
    const at::Tensor are = (rows.sum(1) - 1).abs().lt(kNearOne).logical_and(rows.ge(0).all(1));
    clock.Put(Quantity::kProbabilityRows, {thing}, are.to(at::kDouble).mean().item<double>(), size);
    return;
  }
  const at::Tensor are = rows.logsumexp(1).abs().lt(kNearZero);
  clock.Put(Quantity::kLogProbabilityRows, {thing}, are.to(at::kDouble).mean().item<double>(),
            size);
  const std::string made_by = NormalizerOf(call.outputs);
  if (!made_by.empty()) clock.writer().Attribute(thing, "normalized_by", made_by);
  if (MadeBy(call.outputs.grad_fn(), "LogSoftmaxBackward") &&
      MadeBy(call.outputs.grad_fn()->next_edge(0).function, "SoftmaxBackward")) {
    clock.writer().Attribute(thing, "logarithm_of", "softmax");
  }
}

std::string MakerOf(const at::Tensor& tensor) { return MadeAt(tensor.grad_fn()).first; }

std::string SigmoidOf(const at::Tensor& tensor) {
  const auto [maker, node] = MadeAt(tensor.grad_fn());
  return maker == "sigmoid" ? MadeAt(node->next_edge(0).function).first : "";
}

bool SeveralTrue(const at::Tensor& outputs, const at::Tensor& targets) {
  if (targets.dim() < 2 || outputs.sizes() != targets.sizes() || targets.numel() == 0) return false;
  const at::Tensor sums = outputs.detach().sum(-1, false, at::kDouble);
  return (sums - 1).abs().lt(kNearOne).all().item<bool>() &&
         targets.detach().eq(1).sum(-1).gt(1).any().item<bool>();
}

std::optional<int64_t> ShiftOf(const at::Tensor& tokens, const at::Tensor& targets) {
  if (tokens.dim() != 2 || tokens.size(1) < 4 || targets.is_floating_point() ||
      !targets.device().is_cpu()) {
    return std::nullopt;
  }
  if (!tokens.device().is_cpu() || tokens.size(0) == 0 || targets.numel() % tokens.size(0) != 0) {
    return std::nullopt;
  }
  const at::Tensor rows = targets.detach().reshape({tokens.size(0), -1});
  if (rows.size(1) > tokens.size(1) || rows.size(1) < tokens.size(1) - kMostShift) {
    return std::nullopt;
  }
  std::vector<int64_t> found;
  for (int64_t shift = kLeastShift; shift <= kMostShift; ++shift) {
    if (Fits(tokens, rows, shift)) found.push_back(shift);
  }
  return found.size() == 1 ? std::optional<int64_t>(found.front()) : std::nullopt;
}

void WriteTargetShift(ProbeClock& clock, uint32_t thing, const at::Tensor& tokens,
                      const at::Tensor& targets) {
  const std::optional<int64_t> shift = ShiftOf(tokens, targets);
  if (!shift) return;
  clock.Put(Quantity::kTargetShift, {thing}, static_cast<double>(*shift),
            static_cast<double>(targets.numel()));
}

}  // namespace dlcheck

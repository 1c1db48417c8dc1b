#include "checks/observe/preload/graph/walked_graph.h"

#include <string_view>
#include <unordered_set>

namespace dlcheck {

using torch::autograd::Node;

namespace {

constexpr size_t kMostNodesWalked = 20'000;

}  // namespace

WalkedGraph WalkedGraph::Of(const at::Tensor& root) {
  WalkedGraph graph;
  std::vector<Node*> waiting = {root.grad_fn().get()};
  std::unordered_set<const Node*> met;
  while (!waiting.empty() && graph.nodes.size() < kMostNodesWalked) {
    Node* node = waiting.back();
    waiting.pop_back();
    if (node == nullptr || !met.insert(node).second) continue;
    graph.nodes.push_back(node);
    for (const torch::autograd::Edge& edge : node->next_edges()) {
      if (edge.function == nullptr) continue;
      graph.users[edge.function.get()].push_back(node);
      waiting.push_back(edge.function.get());
    }
  }
  return graph;
}

const std::vector<Node*>& WalkedGraph::UsersOf(const Node* node) const {
  static const auto* none = new std::vector<Node*>;
  const auto found = users.find(node);
  return found == users.end() ? *none : found->second;
}

bool IsArranging(const std::string& name) {
  static const auto* names = new std::unordered_set<std::string_view>{
      "ViewBackward0",      "UnsafeViewBackward0", "ReshapeAliasBackward0", "TransposeBackward0",
      "PermuteBackward0",   "SqueezeBackward0",    "SqueezeBackward1",      "SqueezeBackward2",
      "UnsqueezeBackward0", "ToCopyBackward0",     "CloneBackward0",        "SliceBackward0",
      "AliasBackward0",     "TBackward0",          "SelectBackward0",       "ExpandBackward0",
      "AsStridedBackward0"};
  return names->count(name) > 0;
}

size_t InputsOf(const Node& node) {
  size_t count = 0;
  for (const torch::autograd::Edge& edge : node.next_edges()) count += edge.function ? 1 : 0;
  return count;
}

bool GivesOneNumber(const Node& node) { return NumbersOf(node) == 1; }

int64_t NumbersOf(const Node& node) {
  if (node.num_inputs() == 0) return -1;
  int64_t numbers = 1;
  for (const auto& size : node.input_metadata(0).shape_as_dim_vector()) {
    const std::optional<int64_t> known = size.maybe_as_int();
    if (!known) return -1;
    numbers *= *known;
  }
  return numbers;
}

}  // namespace dlcheck

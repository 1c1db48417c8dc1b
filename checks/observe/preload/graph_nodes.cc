#include "checks/observe/preload/graph_nodes.h"

namespace dlcheck {

using torch::autograd::Node;

bool IsLeaf(const Node& node) { return node.name() == "torch::autograd::AccumulateGrad"; }

Node* OnlyInput(const Node& node) {
  Node* only = nullptr;
  for (size_t i = 0; i < node.num_outputs(); ++i) {
    Node* before = node.next_edge(i).function.get();
    if (before == nullptr || IsLeaf(*before)) continue;
    if (only != nullptr) return nullptr;
    only = before;
  }
  return only;
}

}  // namespace dlcheck

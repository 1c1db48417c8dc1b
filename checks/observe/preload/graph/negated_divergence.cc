#include "checks/observe/preload/graph/negated_divergence.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checks/observe/preload/graph/saved_values.h"
#include "checks/observe/preload/graph/walked_graph.h"

namespace dlcheck {
namespace {

using torch::autograd::Edge;
using torch::autograd::Node;

constexpr size_t kMostTermsOfDivergence = 64;  // nodes
constexpr int64_t kMostEntriesOfFactor = 1 << 16;

using Place = std::pair<Node*, uint32_t>;  // a node, and which of its results
using Signs = std::map<Place, int>;

// The sign of numbers that do not depend on weights: none is below zero, or none above; 0 else.
int SignOf(const at::Tensor& factor) {
  if (!factor.defined() || factor.requires_grad() || factor.numel() == 0) return 0;
  if (!factor.device().is_cpu() || factor.numel() > kMostEntriesOfFactor) return 0;
  if (factor.ge(0).all().item<bool>()) return 1;
  return factor.le(0).all().item<bool>() ? -1 : 0;
}

// With which sign a node passes its inputs on; 0 where that is not known.
int SignThrough(Node& node) {
  const std::string name = node.name();
  if (IsArranging(name) || name.rfind("MeanBackward", 0) == 0) return 1;
  if (name.rfind("SumBackward", 0) == 0) return 1;
  if (name == "NegBackward0" || name.rfind("RsubBackward", 0) == 0) return -1;
  if (name.rfind("AddBackward1", 0) == 0 || name.rfind("SubBackward1", 0) == 0) return 1;
  const std::optional<double> scalar = ScalarFactor(node);
  if (scalar) return *scalar > 0 ? 1 : *scalar < 0 ? -1 : 0;
  if (name == "DivBackward0") return SignOf(SavedDivisor(node));
  const auto [self, other] = SavedFactors(node);
  if (self.defined() && other.defined()) return 0;
  return SignOf(self.defined() ? self : other);
}

// By place: the sign with which it goes into a sum that ends in the loss. What is behind a node of
// another kind is left out.
Signs SignsOfTerms(Node* root) {
  std::vector<std::pair<Place, int>> waiting = {{{root, 0}, 1}};
  Signs signs;
  while (!waiting.empty() && signs.size() < kMostTermsOfDivergence) {
    const auto [place, sign] = waiting.back();
    waiting.pop_back();
    if (place.first == nullptr || !signs.try_emplace(place, sign).second) continue;
    Node& node = *place.first;
    const std::string name = node.name();
    const bool adds = name == "AddBackward0", subtracts = name == "SubBackward0";
    const int through = adds || subtracts ? 1 : SignThrough(node);
    if (through == 0) continue;
    for (uint32_t i = 0; i < node.num_outputs(); ++i) {
      const Edge& edge = node.next_edge(i);
      const int own = subtracts && i == 1 ? -1 : through;
      if (edge.function) waiting.push_back({{edge.function.get(), edge.input_nr}, sign * own});
    }
  }
  return signs;
}

}  // namespace

bool SubtractsDivergence(const at::Tensor& root) {
  if (root.grad_fn() == nullptr) return false;
  const Signs signs = SignsOfTerms(root.grad_fn().get());
  for (const auto& [place, sign] : signs) {
    if (sign > 0 || place.first->name() != "ExpBackward0") continue;
    const Edge& power = place.first->next_edge(0);
    const auto found = signs.find({power.function.get(), power.input_nr});
    if (found != signs.end() && found->second > 0) return true;
  }
  return false;
}

}  // namespace dlcheck

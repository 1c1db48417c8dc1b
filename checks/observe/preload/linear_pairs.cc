#include "checks/observe/preload/linear_pairs.h"

#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/preload/graph_nodes.h"

namespace dlcheck {
namespace {

using torch::autograd::Node;

constexpr int64_t kStepsOfPairs = 3;  // that are looked at
constexpr size_t kMostProducts = 256;
constexpr size_t kMostNodesOfGraph = 20'000;
constexpr int kLongestWay = 16;  // of nodes between two layers

// Which of the nodes before a layer's is that of its input, and of its weight.
struct Places {
  size_t input, weight;
};
std::optional<Places> PlacesOf(const Node& node) {
  const std::string name = node.name();
  if (name == "AddmmBackward0" && node.num_outputs() == 3) return Places{1, 2};
  if (name == "MmBackward0" && node.num_outputs() == 2) return Places{0, 1};
  return std::nullopt;
}

// The trained weight of a layer's node; undefined if it is not one.
at::Tensor WeightOf(const Node& layer) {
  const std::optional<Places> places = PlacesOf(layer);
  const Node* node = places ? layer.next_edge(places->weight).function.get() : nullptr;
  if (node != nullptr && node->name() == "TBackward0") node = node->next_edge(0).function.get();
  if (node == nullptr || !IsLeaf(*node)) return {};
  return static_cast<const torch::autograd::AccumulateGrad*>(node)->variable;
}

// With one input that has a graph, each of these is linear in it.
bool IsLinear(const std::string& name) {
  static const auto* names = new std::unordered_set<std::string_view>{
      "ViewBackward0",  "UnsafeViewBackward0", "ReshapeAliasBackward0", "UnsqueezeBackward0",
      "CloneBackward0", "AliasBackward0",      "SqueezeBackward0",      "SqueezeBackward1",
      "AddBackward0",   "AddBackward1",        "SubBackward0",          "SubBackward1",
      "DivBackward1",   "MulBackward1",        "NativeDropoutBackward0"};
  return names->count(name) > 0;
}

std::string Around(const std::string& module) {
  const size_t dot = module.rfind('.');
  return dot == std::string::npos ? "" : module.substr(0, dot);
}

// Whether two layers belong to different parts of a model, as an encoder and its decoder: what goes
// between these may be meant to be linear.
bool AreInParts(const ProbeModels::Parameter& one, const ProbeModels::Parameter& other) {
  return one.model != other.model || Around(one.module) != Around(other.module);
}

}  // namespace

bool LinearPairs::IsOfLayer(const at::RecordFunction& function) {
  const std::string_view name = function.name();
  return name == "aten::addmm" || name == "aten::matmul" || name == "aten::linear" ||
         name == "aten::dropout";
}

void LinearPairs::Returned(const at::RecordFunction& function, ProbeRecorder& recorder) {
  if (recorder.clock().step() >= kStepsOfPairs || products_.size() >= kMostProducts) return;
  if (function.outputs().size() != 1 || !function.outputs()[0].isTensor()) return;
  const at::Tensor& result = function.outputs()[0].toTensor();
  if (!result.defined() || result.grad_fn() == nullptr) return;
  if (std::string_view(function.name()) == "aten::dropout") {
    // Where nothing is dropped, the result is what was given.
    const bool drops = recorder.models().IsTraining() && result.grad_fn()->name() == "MulBackward0";
    if (drops) dropouts_.push_back(result.grad_fn());
  } else {
    products_.push_back({result.grad_fn(), CallSite()});
  }
}

void LinearPairs::Look(const at::Tensor& root, ProbeRecorder& recorder) {
  const std::vector<Product> products = std::exchange(products_, {});
  linear_.clear();
  for (const std::weak_ptr<Node>& dropout : std::exchange(dropouts_, {})) {
    if (const std::shared_ptr<Node> node = dropout.lock()) linear_.insert(node.get());
  }
  if (products.empty() || root.grad_fn() == nullptr) return;
  std::vector<Node*> nodes = {root.grad_fn().get()};
  Users users = {{nodes.front(), {1, nullptr}}};
  for (size_t i = 0; i < nodes.size() && i < kMostNodesOfGraph; ++i) {
    for (size_t place = 0; place < nodes[i]->num_outputs(); ++place) {
      Node* before = nodes[i]->next_edge(place).function.get();
      if (before == nullptr) continue;
      User& user = users[before];
      user.last = nodes[i];
      if (++user.count == 1) nodes.push_back(before);
    }
  }
  if (nodes.size() >= kMostNodesOfGraph) return;
  for (const Product& product : products) {
    const std::shared_ptr<Node> node = product.node.lock();
    if (node == nullptr || users.count(node.get()) == 0) continue;
    Node* layer = node.get();
    if (!PlacesOf(*layer)) layer = OnlyInput(*layer);  // a product of more axes is a view of one
    if (layer != nullptr && PlacesOf(*layer)) LookAt(product, layer, users, recorder);
  }
}

bool LinearPairs::IsCut(const Node* layer, const Users& users) {
  static const auto* cuts = new std::unordered_set<std::string_view>{
      "TransposeBackward0", "PermuteBackward0", "SelectBackward0", "SplitBackward0",
      "UnbindBackward0",    "SliceBackward0",   "NarrowBackward0", "SplitWithSizesBackward0"};
  for (int i = 0; i < kLongestWay; ++i) {
    const auto found = users.find(layer);
    if (found == users.end() || found->second.last == nullptr) return false;
    layer = found->second.last;
    if (cuts->count(layer->name()) > 0) return true;
    if (!IsLinear(layer->name())) return false;
  }
  return false;
}

void LinearPairs::LookAt(const Product& product, Node* layer, const Users& users,
                         ProbeRecorder& recorder) {
  if (IsCut(layer, users)) return;  // what attention takes is multiplied with itself
  const at::Tensor second = WeightOf(*layer);
  Node* node = layer->next_edge(PlacesOf(*layer)->input).function.get();
  for (int i = 0; second.defined() && node != nullptr && i < kLongestWay; ++i) {
    const auto found = users.find(node);
    if (found == users.end() || found->second.count > 1) return;
    if (PlacesOf(*node)) break;
    if (!IsLinear(node->name()) && linear_.count(node) == 0) return;
    node = OnlyInput(*node);
  }
  const at::Tensor first = node != nullptr && PlacesOf(*node) ? WeightOf(*node) : at::Tensor();
  if (!second.defined() || !first.defined() || first.is_same(second)) return;
  const ProbeModels::Parameter* one = recorder.models().Find(first);
  const ProbeModels::Parameter* other = recorder.models().Find(second);
  if (one == nullptr || other == nullptr || AreInParts(*one, *other)) return;
  if (first.dim() != 2 || second.dim() != 2 || first.size(0) != second.size(1)) return;
  const int64_t before = first.size(1), between = first.size(0), after = second.size(0);
  if (between < std::min(before, after)) return;  // a factorization
  const std::string sizes =
      std::to_string(before) + " to " + std::to_string(between) + " to " + std::to_string(after);
  if (!told_.insert(sizes).second) return;
  ProbeClock& clock = recorder.clock();
  const uint32_t thing = clock.writer().Thing("operation", static_cast<int>(told_.size()), sizes);
  clock.Put(Quantity::kLinearPair, {thing, 0, recorder.Site(product.site)},
            static_cast<double>(between), static_cast<double>(std::min(before, after)));
}

}  // namespace dlcheck

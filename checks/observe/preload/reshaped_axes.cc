#include "checks/observe/preload/reshaped_axes.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "checks/observe/preload/call_sites.h"

namespace dlcheck {
namespace {

using torch::autograd::Node;

constexpr int64_t kStepsReshaped = 3;  // that are looked at: later batches may differ in size
constexpr size_t kMostWaiting = 16;    // of one step
constexpr size_t kMostReshapesTold = 16;
constexpr size_t kMostNodesOfLoss = 20'000;

bool IsSlice(const Node* node) { return node != nullptr && node->name() == "SliceBackward0"; }

// The shape of what an edge leads to; empty where it is not known.
std::vector<int64_t> ShapeBehind(const torch::autograd::Edge& edge) {
  std::vector<int64_t> shape;
  if (!edge.function || edge.input_nr >= edge.function->num_inputs()) return shape;
  for (const c10::SymInt& size :
       edge.function->input_metadata(edge.input_nr).shape_as_dim_vector()) {
    const std::optional<int64_t> number = size.maybe_as_int();
    if (!number.has_value()) return {};
    shape.push_back(*number);
  }
  return shape;
}

std::string JoinedSizes(const std::vector<int64_t>& sizes) {
  std::string text;
  for (const int64_t size : sizes) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

bool Mixes(const std::vector<int64_t>& before, const std::vector<int64_t>& after) {
  if (before.size() < 2 || after.size() < 2) return false;
  return std::any_of(after.begin(), after.end(), [&](int64_t size) {
    return std::find(before.begin(), before.end(), size) != before.end();
  });
}

std::vector<int64_t> WithoutOnes(std::vector<int64_t> sizes) {
  sizes.erase(std::remove(sizes.begin(), sizes.end(), 1), sizes.end());
  return sizes;
}

// Pairs of sizes of two shapes with equal products, each as short as can be.
std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>> Runs(
    const std::vector<int64_t>& before, const std::vector<int64_t>& after) {
  const std::vector<int64_t> from = WithoutOnes(before), to = WithoutOnes(after);
  std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>> runs(1);
  size_t i = 0, j = 0;
  int64_t old_product = 1, new_product = 1;
  while (i < from.size() || j < to.size()) {
    if ((old_product <= new_product && i < from.size()) || j >= to.size()) {
      runs.back().first.push_back(from[i]);
      old_product *= from[i++];
    } else {
      runs.back().second.push_back(to[j]);
      new_product *= to[j++];
    }
    if (old_product != new_product) continue;
    runs.emplace_back();
    old_product = new_product = 1;
  }
  return runs;
}

bool IsTranspose(const Node* node) {
  return node != nullptr &&
         (node->name() == "TransposeBackward0" || node->name() == "PermuteBackward0");
}

// What a node was given, where it made a copy of that before.
const Node* Behind(const Node& node) {
  const Node* given = node.next_edge(0).function.get();
  const bool is_copy =
      given != nullptr && given->name() == "CloneBackward0" && given->num_outputs() > 0;
  return is_copy ? given->next_edge(0).function.get() : given;
}

}  // namespace

std::string SwappedSizes(const std::vector<int64_t>& before, const std::vector<int64_t>& after) {
  for (const auto& [old_run, new_run] : Runs(before, after)) {
    if (Mixes(old_run, new_run)) return JoinedSizes(before) + " to " + JoinedSizes(after);
  }
  return "";
}

bool RegroupsAxes(const std::vector<int64_t>& before, const std::vector<int64_t>& after) {
  for (const auto& [old_run, new_run] : Runs(before, after)) {
    if (!Mixes(old_run, new_run)) continue;
    if (old_run.size() != 2 || new_run.size() != 2) return false;
    if (old_run[1] % new_run[1] != 0 && new_run[1] % old_run[1] != 0) return false;
  }
  return true;
}

bool ReshapedAxes::IsReshape(const at::RecordFunction& function) {
  const std::string_view name = function.name();
  return name == "aten::view" || name == "aten::reshape" || name == "aten::view_as" ||
         name == "aten::reshape_as";
}

void ReshapedAxes::Returned(const at::RecordFunction& function, ProbeRecorder& recorder) {
  if (recorder.clock().step() >= kStepsReshaped || waiting_.size() >= kMostWaiting) return;
  if (function.outputs().size() != 1 || !function.outputs()[0].isTensor()) return;
  const at::Tensor& result = function.outputs()[0].toTensor();
  const std::shared_ptr<Node>& node = result.defined() ? result.grad_fn() : nullptr;
  if (node == nullptr || node->num_outputs() != 1 || node->name() == "CloneBackward0") return;
  const std::vector<int64_t> before = ShapeBehind(node->next_edge(0)), after = result.sizes().vec();
  const std::string sizes = SwappedSizes(before, after);
  if (sizes.empty() || IsSlice(node->next_edge(0).function.get()) || !IsCalledByProgram()) return;
  const bool may_regroup = RegroupsAxes(before, after);
  if (may_regroup && IsTranspose(Behind(*node))) return;
  waiting_.push_back({node, sizes, CallSite(), may_regroup});
}

void ReshapedAxes::Look(const at::Tensor& root, ProbeRecorder& recorder) {
  std::vector<Waiting> waiting = std::exchange(waiting_, {});
  if (waiting.empty() || root.grad_fn() == nullptr) return;
  std::vector<Node*> nodes = {root.grad_fn().get()};
  std::unordered_set<Node*> met = {nodes.front()}, sliced, transposed;
  for (size_t i = 0; i < nodes.size() && i < kMostNodesOfLoss; ++i) {
    for (size_t place = 0; place < nodes[i]->num_outputs(); ++place) {
      Node* behind = nodes[i]->next_edge(place).function.get();
      if (behind == nullptr) continue;
      if (IsSlice(nodes[i])) sliced.insert(behind);
      if (IsTranspose(nodes[i])) transposed.insert(behind);
      if (met.insert(behind).second) nodes.push_back(behind);
    }
  }
  for (const Waiting& found : waiting) {
    const std::shared_ptr<Node> node = found.node.lock();
    if (node == nullptr || met.count(node.get()) == 0 || sliced.count(node.get()) > 0) continue;
    if (found.may_regroup && transposed.count(node.get()) > 0) continue;
    if (told_.size() >= kMostReshapesTold || !told_.emplace(found.sizes, found.site.file).second)
      continue;
    const uint32_t thing = recorder.clock().writer().Thing("operation", 0, found.sizes);
    recorder.clock().Put(Quantity::kSwappedSizes, {thing, 0, recorder.Site(found.site)}, 1);
  }
}

}  // namespace dlcheck

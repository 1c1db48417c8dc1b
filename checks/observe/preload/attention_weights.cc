#include "checks/observe/preload/attention_weights.h"

#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/preload/graph_nodes.h"

namespace dlcheck {
namespace {

constexpr double kLeastWeight = 1e-6;          // of a hidden position that is worth a word
constexpr int kMostLooks = 8;                  // in a step
constexpr int64_t kMostEntriesRead = 1 << 20;  // that are read at a time
constexpr int kLongestWayToLayer = 16;         // of nodes between a layer and a product
constexpr int64_t kFewestFeatures = 8;         // of a query: with fewer, scores need no scale
constexpr int64_t kStepsOfScores = 3;          // whose scores are looked at
constexpr int kLongestChain = 8;               // of nodes between a product and a softmax

bool IsGiven(const at::RecordFunction& function, size_t place) {
  const auto inputs = function.inputs();
  return place < inputs.size() && inputs[place].isTensor() && inputs[place].toTensor().defined();
}

const at::Tensor& Input(const at::RecordFunction& function, size_t place) {
  return function.inputs()[place].toTensor();
}

// Whether scores are a product of two tensors that are trained, scaled or masked since.
bool IsProduct(const at::Tensor& scores) {
  static const auto* between = new std::unordered_set<std::string_view>{
      "DivBackward0",        "DivBackward1",        "MulBackward0",  "MulBackward1",
      "MaskedFillBackward0", "MaskedFillBackward1", "ViewBackward0", "ExpandBackward0",
      "UnsafeViewBackward0", "AddBackward0"};
  torch::autograd::Node* node = scores.grad_fn().get();
  for (int i = 0; i < kLongestChain && node != nullptr; ++i) {
    const std::string name = node->name();
    if (name == "BmmBackward0") {
      return node->num_outputs() == 2 && node->next_edge(0).function && node->next_edge(1).function;
    }
    if (between->count(name) == 0 || node->num_outputs() == 0) return false;
    node = node->next_edge(0).function.get();
  }
  return false;
}

// Whether one side of a product is what a linear layer gave, cut into heads and nothing else.
// Attention over the places of a picture, whose queries convolutions make, has no scale by design.
bool IsCutFromLayer(const torch::autograd::Node* node) {
  static const auto* cutting = new std::unordered_set<std::string_view>{
      "ViewBackward0",    "UnsafeViewBackward0", "ReshapeAliasBackward0",  "TransposeBackward0",
      "PermuteBackward0", "ExpandBackward0",     "SliceBackward0",         "SelectBackward0",
      "SplitBackward0",   "UnbindBackward0",     "CloneBackward0",         "UnsqueezeBackward0",
      "SqueezeBackward1", "AddBackward0",        "SplitWithSizesBackward0"};
  for (int i = 0; i < kLongestWayToLayer && node != nullptr; ++i) {
    const std::string name = node->name();
    if (name == "AddmmBackward0" || name == "MmBackward0") return true;
    if (cutting->count(name) == 0) return false;
    node = OnlyInput(*node);
  }
  return false;
}

// How many features the queries have whose products with the keys these scores are, where neither
// the products nor queries and keys were multiplied by a number; 0 of other scores.
int64_t UnscaledFeatures(const at::Tensor& scores) {
  static const auto* between = new std::unordered_set<std::string_view>{
      "MaskedFillBackward0", "MaskedFillBackward1", "ViewBackward0", "UnsafeViewBackward0"};
  const torch::autograd::Node* node = scores.grad_fn().get();
  for (int i = 0; i < kLongestChain && node != nullptr; ++i) {
    if (node->name() == "BmmBackward0") break;
    if (between->count(node->name()) == 0) return 0;
    node = OnlyInput(*node);
  }
  if (node == nullptr || node->name() != "BmmBackward0" || node->num_outputs() != 2) return 0;
  const torch::autograd::Edge& queries = node->next_edge(0);
  if (!IsCutFromLayer(queries.function.get())) return 0;
  if (!IsCutFromLayer(node->next_edge(1).function.get())) return 0;
  const auto sizes = queries.function->input_metadata(queries.input_nr).shape_as_dim_vector();
  return sizes.empty() ? 0 : sizes.back().maybe_as_int().value_or(0);
}

}  // namespace

bool AttentionWeights::Begins(const at::RecordFunction& function, ProbeRecorder& recorder) {
  const std::string_view name = function.name();
  if (name == "aten::masked_fill") return MaskingBegins(function);
  if (name == "aten::softmax") return SoftmaxBegins(function, recorder);
  if (name == "aten::matmul") ProductBegins(function, recorder);
  return false;
}

bool AttentionWeights::MaskingBegins(const at::RecordFunction& function) {
  pending_.reset();
  if (!IsGiven(function, 0) || !IsGiven(function, 1) || !Input(function, 0).requires_grad()) {
    return false;
  }
  const at::Tensor& mask = Input(function, 1);
  if (mask.scalar_type() != at::kBool || !mask.device().is_cpu()) return false;
  if (mask.numel() > kMostEntriesRead) return false;
  pending_ = Pending{mask.clone(), 0};  // a program may write into its mask afterwards
  return true;
}

bool AttentionWeights::SoftmaxBegins(const at::RecordFunction& function, ProbeRecorder& recorder) {
  pending_.reset();
  weights_.reset();
  if (!IsGiven(function, 0) || function.inputs().size() < 2 || !function.inputs()[1].isInt()) {
    return false;
  }
  const at::Tensor& scores = Input(function, 0);
  if (!scores.requires_grad() || scores.dim() < 3) return false;
  const int64_t given = function.inputs()[1].toInt();
  const int64_t axis = given < 0 ? given : given - scores.dim();
  if (axis < -scores.dim() || axis > -1) return false;
  if (axis != -1) {
    if (scores.size(axis) < 2 || !IsProduct(scores)) return false;
    pending_ = Pending{{}, axis};
    return true;
  }
  if (recorder.clock().step() < kStepsOfScores) LookAtScale(scores, recorder);
  const std::optional<Scores> masked = std::exchange(scores_, std::nullopt);
  if (!masked || masked->tensor._unsafe_get_target() != scores.unsafeGetTensorImpl()) return false;
  if (!scores.device().is_cpu() || scores.numel() > kMostEntriesRead) return false;
  if (!HasLooksLeft(recorder.clock().step())) return false;
  pending_ = Pending{masked->mask, axis};
  return true;
}

void AttentionWeights::LookAtScale(const at::Tensor& scores, ProbeRecorder& recorder) {
  const int64_t features = UnscaledFeatures(scores);
  if (features < kFewestFeatures) return;
  ProbeClock& clock = recorder.clock();
  clock.Put(Quantity::kUnscaledAttention,
            {clock.writer().Thing("operation", 0, "scores"), 0, recorder.Site(CallSite())},
            static_cast<double>(features));
}

bool AttentionWeights::HasLooksLeft(int64_t step) {
  if (std::exchange(step_, step) != step) looks_ = 0;
  return ++looks_ <= kMostLooks;
}

void AttentionWeights::Returned(const at::RecordFunction& function, ProbeRecorder& recorder) {
  const std::optional<Pending> pending = std::exchange(pending_, std::nullopt);
  if (!pending || function.outputs().empty() || !function.outputs()[0].isTensor()) return;
  const at::Tensor& result = function.outputs()[0].toTensor();
  if (!result.defined()) return;
  if (pending->axis == 0) {
    scores_ = Scores{Weak(result.getIntrusivePtr()), pending->mask};
  } else if (pending->axis == -1) {
    LookBehindMask(pending->mask, result, recorder);
  } else {
    weights_ = Weights{Weak(result.getIntrusivePtr()), pending->axis, CallSite()};
  }
}

void AttentionWeights::LookBehindMask(const at::Tensor& mask, const at::Tensor& weights,
                                      ProbeRecorder& recorder) {
  const torch::NoGradGuard no_grad;
  const at::Tensor hidden = mask.expand_as(weights);
  const at::Tensor counted = hidden.logical_and(hidden.all(-1, true).logical_not());
  const auto positions = counted.sum().item<int64_t>();
  if (positions == 0) return;
  const double largest =
      weights.detach().masked_fill(counted.logical_not(), 0).max().item<double>();
  if (!(largest > kLeastWeight)) return;
  ProbeClock& clock = recorder.clock();
  clock.Put(Quantity::kWeightBehindMask,
            {clock.writer().Thing("operation", 0, "masked_fill"), 0, recorder.Site(CallSite())},
            largest, static_cast<double>(positions));
}

void AttentionWeights::ProductBegins(const at::RecordFunction& function, ProbeRecorder& recorder) {
  const std::optional<Weights> weights = std::exchange(weights_, std::nullopt);
  if (!weights || !IsGiven(function, 0) || !IsGiven(function, 1)) return;
  const at::Tensor& first = Input(function, 0);
  if (weights->tensor._unsafe_get_target() != first.unsafeGetTensorImpl()) return;
  if (!Input(function, 1).requires_grad()) return;
  ProbeClock& clock = recorder.clock();
  clock.Put(Quantity::kMisdirectedSoftmax,
            {clock.writer().Thing("operation", 0, "attention"), 0, recorder.Site(weights->site)},
            static_cast<double>(weights->axis));
}

}  // namespace dlcheck

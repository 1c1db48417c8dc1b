#include "checks/observe/preload/norm_layers.h"

#include <string_view>
#include <utility>
#include <vector>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/preload/given_tensors.h"
#include "checks/observe/preload/graph_nodes.h"

namespace dlcheck {
namespace {

using torch::autograd::Node;

constexpr int64_t kFewValues = 8;             // of a channel, that are told
constexpr double kLeastSmall = 0.5;           // of groups whose variance is below epsilon
constexpr int64_t kMostNormalized = 1 << 22;  // elements

// Places of the arguments of batch_norm.
constexpr size_t kWeight = 1, kMean = 3, kVariance = 4, kTraining = 5, kMomentum = 6, kEpsilon = 7;

bool IsBatchNorm(const at::RecordFunction& function) {
  return std::string_view(function.name()) == "aten::batch_norm";
}

// The layer that has this weight; a name for all without one.
uint32_t LayerOf(const at::RecordFunction& function, ProbeRecorder& recorder) {
  const at::Tensor weight = TensorGiven(function, IsBatchNorm(function) ? kWeight : 2);
  const ProbeModels::Parameter* known = weight.defined() ? recorder.models().Find(weight) : nullptr;
  if (known != nullptr && known->module_thing != 0) return known->module_thing;
  return recorder.clock().writer().Thing("module", 0, "norm");
}

// (groups, values) that one variance is taken of each; undefined where that is not known.
at::Tensor GroupsOf(const at::RecordFunction& function, const at::Tensor& input) {
  if (IsBatchNorm(function)) return input.transpose(0, 1).flatten(1);
  const auto inputs = function.inputs();
  const std::string_view name = function.name();
  if (name == "aten::group_norm" && inputs.size() > 1 && inputs[1].isInt()) {
    return input.reshape({input.size(0) * inputs[1].toInt(), -1});
  }
  if (name == "aten::layer_norm" && inputs.size() > 1 && inputs[1].isIntList()) {
    const auto axes = static_cast<int64_t>(inputs[1].toIntVector().size());
    return input.flatten(-axes).flatten(0, -2);
  }
  return {};
}

double EpsilonOf(const at::RecordFunction& function) {
  const size_t place = IsBatchNorm(function) ? kEpsilon : 4;  // of group_norm and layer_norm
  const auto inputs = function.inputs();
  return place < inputs.size() && inputs[place].isDouble() ? inputs[place].toDouble() : 0;
}

bool CanBeRead(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().is_cpu() && tensor.layout() == at::kStrided;
}

// The trained bias of the layer that gave the input; reshapes may stand between.
bool HasBias(const at::Tensor& input) {
  const Node* node = input.grad_fn().get();
  for (int i = 0; i < 4 && node != nullptr; ++i) {
    const std::string name = node->name();
    const size_t place = name == "AddmmBackward0" ? 0 : 2;
    if (name == "AddmmBackward0" || name == "ConvolutionBackward0") {
      if (node->num_outputs() <= place) return false;
      const Node* bias = node->next_edge(place).function.get();
      return bias != nullptr && IsLeaf(*bias);
    }
    const bool reshapes = name == "ViewBackward0" || name == "ReshapeAliasBackward0" ||
                          name == "UnsafeViewBackward0" || name == "TransposeBackward0";
    if (!reshapes) return false;
    node = node->next_edge(0).function.get();
  }
  return false;
}

}  // namespace

bool NormLayers::Is(const at::RecordFunction& function) {
  const std::string_view name = function.name();
  return name == "aten::batch_norm" || name == "aten::layer_norm" || name == "aten::group_norm";
}

void NormLayers::Saw(const at::RecordFunction& function, ProbeRecorder& recorder) {
  const at::Tensor input = TensorGiven(function, 0);
  if (!recorder.clock().sampled() || !input.defined()) return;
  if (input.dim() < 2 || input.size(1) == 0) return;
  const uint32_t thing = LayerOf(function, recorder);
  const uint32_t site = recorder.Site(CallSite());
  const int64_t step = recorder.clock().step();
  LookAtPrecision(function, thing, site, recorder);
  if (IsBatchNorm(function)) {
    LookAtStatistics(function, thing, site, recorder);
    const bool is_training = function.inputs()[kTraining].toBool();
    const int64_t values = input.numel() / input.size(1);
    const auto [last, is_new] = counted_in_.try_emplace(thing, -1);
    if (is_training && values <= kFewValues && std::exchange(last->second, step) != step) {
      recorder.clock().Put(Quantity::kNormalizedValues, {thing, 0, site},
                           static_cast<double>(values));
    }
    if (is_training) LookAtBias(function, site, recorder);
  }
  if (recorder.clock().takes_digest()) LookAtVariance(function, thing, site, recorder);
}

void NormLayers::LookAtPrecision(const at::RecordFunction& function, uint32_t thing, uint32_t site,
                                 ProbeRecorder& recorder) {
  const at::Tensor weight = TensorGiven(function, IsBatchNorm(function) ? kWeight : 2);
  const bool is_half = weight.defined() &&
                       (weight.scalar_type() == at::kHalf || weight.scalar_type() == at::kBFloat16);
  if (!is_half || !recorder.models().IsTraining() || !halves_told_.insert(thing).second) return;
  constexpr double kBitsOfFloat16 = 11, kBitsOfBfloat16 = 8;  // of the significand
  recorder.clock().Put(Quantity::kHalfNorm, {thing, 0, site},
                       weight.scalar_type() == at::kHalf ? kBitsOfFloat16 : kBitsOfBfloat16);
}

void NormLayers::LookAtStatistics(const at::RecordFunction& function, uint32_t thing, uint32_t site,
                                  ProbeRecorder& recorder) {
  const at::Tensor mean = TensorGiven(function, kMean), variance = TensorGiven(function, kVariance);
  if (!CanBeRead(mean) || !CanBeRead(variance) || !recorder.models().IsTraining()) return;
  const auto inputs = function.inputs();
  const bool is_training = inputs[kTraining].toBool();
  // The first step has no statistics yet.
  if (recorder.clock().step() == 0) return;
  if (is_training && !(inputs[kMomentum].isDouble() && inputs[kMomentum].toDouble() == 0)) return;
  if (!mean.eq(0).all().item<bool>() || !variance.eq(1).all().item<bool>()) return;
  recorder.clock().Put(Quantity::kInitialStatistics, {thing, 0, site}, is_training ? 2 : 1);
}

void NormLayers::LookAtVariance(const at::RecordFunction& function, uint32_t thing, uint32_t site,
                                ProbeRecorder& recorder) {
  const at::Tensor input = TensorGiven(function, 0);
  const double epsilon = EpsilonOf(function);
  if (!CanBeRead(input) || epsilon <= 0 || input.numel() > kMostNormalized) return;
  const at::Tensor groups = GroupsOf(function, input.detach());
  if (!groups.defined() || groups.size(-1) < 2) return;
  const at::Tensor small = groups.to(at::kDouble).var(-1, /*unbiased=*/false).lt(epsilon);
  const double share = small.to(at::kDouble).mean().item<double>();
  if (share < kLeastSmall) return;
  recorder.clock().Put(Quantity::kSmallVariance, {thing, 0, site}, share, epsilon);
}

void NormLayers::LookAtBias(const at::RecordFunction& function, uint32_t site,
                            ProbeRecorder& recorder) {
  const at::Tensor input = TensorGiven(function, 0);
  if (!input.requires_grad() || !HasBias(input)) return;
  const Probe::Site line = CallSite();
  if (std::exchange(biases_told_[line.file], true)) return;
  const uint32_t thing = recorder.clock().writer().Thing("operation", 0, "bias");
  recorder.clock().Put(Quantity::kBiasBeforeNorm, {thing, 0, site}, 1);
}

}  // namespace dlcheck

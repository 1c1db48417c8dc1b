#include "checks/observe/preload/weights/met_weights.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "checks/observe/preload/losses/loss_given.h"

namespace dlcheck {
namespace {

constexpr int64_t kFewestEntriesOfMask = 16, kMostEntriesOfMaskWeight = 1 << 24, kSmallestMask = 3;

// Whether a parameter holds 0 and minus infinity alone, or 0 and 1 as a triangle does.
bool IsMask(const at::Tensor& parameter) {
  const at::Tensor matrix = parameter.detach().reshape({-1, parameter.size(-1)});
  if (matrix.size(0) < 2) return false;
  const double first = matrix[0][0].item<double>();
  if (first != 0 && first != 1) return false;  // most weights: no more is read
  const at::Tensor ones = matrix.eq(1), zeros = matrix.eq(0);
  const at::Tensor hidden = matrix.eq(-std::numeric_limits<double>::infinity());
  if (zeros.logical_or(hidden).all().item<bool>()) return !zeros.all().item<bool>();
  if (matrix.size(0) != matrix.size(1) || matrix.size(0) < kSmallestMask) return false;
  const at::Tensor all = at::ones_like(matrix);
  return matrix.equal(all.tril()) || matrix.equal(all.triu());
}

bool MayBeMask(const at::Tensor& parameter) {
  return parameter.requires_grad() && parameter.dim() >= 2 && !parameter.is_complex() &&
         parameter.numel() >= kFewestEntriesOfMask &&
         parameter.numel() <= kMostEntriesOfMaskWeight && IsAtHand(parameter);
}

// The name of the container that numbers its children, for one of them; empty for another module.
// A model that is itself the container has no name: it is ".".
std::string ContainerOf(const std::string& name) {
  const size_t dot = name.rfind('.');
  const std::string own = dot == std::string::npos ? name : name.substr(dot + 1);
  const bool is_number = !own.empty() && std::all_of(own.begin(), own.end(), [](unsigned char c) {
    return std::isdigit(c) != 0;
  });
  if (!is_number) return "";
  return dot == std::string::npos ? "." : name.substr(0, dot);
}

bool HasParameters(const ModelTree& tree, const std::string& module) {
  return std::any_of(tree.parameters.begin(), tree.parameters.end(), [&](const auto& parameter) {
    return parameter.name.rfind(module + ".", 0) == 0;
  });
}

// One activation that stands at two places changes nothing.
void LookForRepeats(int model, ProbeRecorder& recorder) {
  const ModelTree& tree = recorder.models().tree(model);
  std::map<std::string, std::vector<const torch::nn::Module*>> held;  // by container
  for (const ModelTree::Module& module : tree.modules) {
    const std::string container = ContainerOf(module.name);
    if (container.empty() || !HasParameters(tree, module.name)) continue;
    held[container].push_back(module.address);
  }
  for (const auto& [container, layers] : held) {
    const std::set<const torch::nn::Module*> different(layers.begin(), layers.end());
    if (different.size() == layers.size()) continue;
    ProbeClock& clock = recorder.clock();
    const uint32_t thing = container == "." ? recorder.models().model_thing(model)
                                            : clock.writer().Thing("module", model, container);
    clock.Put(Quantity::kRepeatedLayer, {thing}, static_cast<double>(layers.size()),
              static_cast<double>(different.size()));
  }
}

}  // namespace

void MetWeights::Consumed(int optimizer, ProbeRecorder& recorder) {
  for (; models_ < recorder.models().count(); ++models_) LookForRepeats(models_, recorder);
  if (!optimizers_.insert(optimizer).second) return;
  for (const at::Tensor& parameter : recorder.Optimizer(optimizer).parameters()) {
    if (!MayBeMask(parameter) || !IsMask(parameter)) continue;
    const ProbeModels::Parameter* known = recorder.models().Find(parameter);
    if (known != nullptr) recorder.clock().Put(Quantity::kMaskParameter, {known->thing}, 1);
  }
}

}  // namespace dlcheck

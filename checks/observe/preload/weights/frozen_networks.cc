#include "checks/observe/preload/weights/frozen_networks.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/preload/given_tensors.h"
#include "checks/observe/preload/losses/loss_given.h"

namespace dlcheck {
namespace {

constexpr size_t kMostNetworks = 64;
constexpr int64_t kMostEntriesCompared = 64;

bool IsTrue(const at::RecordFunction& function, size_t place) {
  const auto inputs = function.inputs();
  return place < inputs.size() && inputs[place].isBool() && inputs[place].toBool();
}

bool DropsSome(const at::RecordFunction& function) {
  const auto inputs = function.inputs();
  return inputs.size() > 1 && inputs[1].isDouble() && inputs[1].toDouble() > 0;
}

bool IsDropout(std::string_view name) {
  return name == "aten::dropout" || name == "aten::feature_dropout" ||
         name == "aten::alpha_dropout" || name == "aten::feature_alpha_dropout";
}

// The weight of a layer; a linear one of LibTorch transposes it first. Undefined of another
// operation.
at::Tensor WeightGiven(const at::RecordFunction& function) {
  const std::string_view name = function.name();
  if (name == "aten::t") return TensorGiven(function, 0);
  const bool is_of_layer =
      name == "aten::linear" || name == "aten::batch_norm" || name.rfind("aten::conv", 0) == 0;
  return is_of_layer ? TensorGiven(function, 1) : at::Tensor();
}

// Whether an optimizer trains a weight, or another one of the same model.
bool IsTrained(const at::Tensor& weight, ProbeRecorder& recorder) {
  ProbeModels& models = recorder.models();
  const auto is_trained = [&](const at::Tensor& tensor) {
    const ProbeModels::Parameter* found = models.Find(tensor);
    return found != nullptr && !found->group.empty() && tensor.requires_grad();
  };
  const ProbeModels::Parameter* known = models.Find(weight);
  if (known == nullptr || known->model == ProbeModels::kNoModel) return is_trained(weight);
  const std::vector<ModelTree::Tensor>& parameters = models.tree(known->model).parameters;
  return std::any_of(parameters.begin(), parameters.end(),
                     [&](const ModelTree::Tensor& each) { return is_trained(each.tensor); });
}

at::Tensor FirstNumbers(const at::Tensor& weight) {
  const at::Tensor flat = weight.detach().reshape({-1});
  return flat.narrow(0, 0, std::min(flat.numel(), kMostEntriesCompared)).clone();
}

}  // namespace

void FrozenNetworks::Saw(const at::RecordFunction& function, ProbeRecorder& recorder) {
  const std::string_view name = function.name();
  if (IsDropout(name)) {
    const auto held = last_.lock();
    if (held && IsTrue(function, 2) && DropsSome(function)) Runs(at::Tensor(held), recorder);
    return;
  }
  const at::Tensor weight = WeightGiven(function);
  if (!weight.defined()) return;
  last_ = Weak(weight.getIntrusivePtr());
  constexpr size_t kPlaceOfTraining = 5;
  if (name == "aten::batch_norm" && IsTrue(function, kPlaceOfTraining)) Runs(weight, recorder);
}

// One that an optimizer trains, or that changes, as an average of another one does, is left alone.
void FrozenNetworks::Runs(const at::Tensor& weight, ProbeRecorder& recorder) {
  if (!IsAtHand(weight) || IsTrained(weight, recorder)) return;
  const at::TensorImpl* key = weight.unsafeGetTensorImpl();
  if (networks_.count(key) == 0 && networks_.size() >= kMostNetworks) return;
  ProbeClock& clock = recorder.clock();
  const auto [found, is_new] = networks_.try_emplace(key);
  Network& network = found->second;
  if (is_new) {
    const auto ordinal = static_cast<int>(networks_.size()) - 1;
    network.thing = clock.writer().Thing("network", ordinal, "network");
    network.before = FirstNumbers(weight);
  }
  if (network.is_left_alone || std::exchange(network.step, clock.step()) == clock.step()) return;
  network.is_left_alone = !network.before.equal(FirstNumbers(weight));
  if (network.is_left_alone) return;
  clock.Put(Quantity::kFrozenInTrainingMode, {network.thing, 0, recorder.Site(CallSite())},
            ++network.calls);
}

}  // namespace dlcheck

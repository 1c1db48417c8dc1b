#include "checks/observe/preload/unseen_steps.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace dlcheck {
namespace {

constexpr char kByHand[] = "weights changed by the program itself";

}  // namespace

void UnseenSteps::Add(int number, const std::vector<at::Tensor>& parameters) {
  own_[number].parameters = parameters;
}

void UnseenSteps::BackwardEnds(ProbeRecorder& recorder) {
  if (any_seen_ && own_.empty()) return;
  seen_ = false;
  versions_.clear();
  for (const at::Tensor& leaf : recorder.models().Leaves()) {
    if (leaf.grad().defined()) versions_.emplace_back(leaf, leaf._version());
  }
  for (auto& [number, own] : own_) {
    if (!std::exchange(own.begun, true)) recorder.BeginStep(number);
  }
}

std::vector<at::Tensor> UnseenSteps::Changed() const {
  std::vector<at::Tensor> changed;
  for (const auto& [leaf, version] : versions_) {
    if (leaf._version() != version) changed.push_back(leaf);
  }
  return changed;
}

void UnseenSteps::Infer(ProbeRecorder& recorder) {
  if (std::exchange(seen_, true)) return;
  const std::vector<at::Tensor> changed = Changed();
  if (changed.empty()) {
    seen_ = false;  // it may still come
    return;
  }
  std::unordered_set<const at::TensorImpl*> known;
  for (const at::Tensor& leaf : changed) known.insert(leaf.unsafeGetTensorImpl());
  bool is_known = false;
  for (auto& [number, own] : own_) {
    const bool stepped =
        std::any_of(own.parameters.begin(), own.parameters.end(), [&](const at::Tensor& parameter) {
          return known.count(parameter.unsafeGetTensorImpl()) > 0;
        });
    is_known = is_known || stepped;
    if (!stepped || !std::exchange(own.begun, false)) continue;
    recorder.Consume(number);
    recorder.AfterStep(number, {"", 0, ""}, /*taken=*/true);
  }
  if (is_known) return;
  // Seen from the next step on: how the weights were before this one is not known.
  Probe::Group group;
  for (const at::Tensor& leaf : changed) group.parameters.emplace_back("", leaf);
  Add(recorder.Optimizes(kByHand, {std::move(group)}, Probe::Rule()), changed);
}

}  // namespace dlcheck

#include "checks/observe/preload/experiments/limited_data.h"

#include "checks/observe/probe/tensor_summary.h"

namespace dlcheck {

at::Tensor LimitedData::Step(torch::optim::Optimizer&, int, Closure closure, const OwnStep& own) {
  return own(std::move(closure));
}

at::Tensor LimitedData::StandIn(const DataPlace&, const at::Tensor& data, DataUse use) {
  if (use == DataUse::kInput) inputs_.push_back(DigestTensors({data}));
  if (use == DataUse::kTarget) targets_.push_back(DigestTensors({data}));
  return data;
}

void LimitedData::TrainingStepEnds() {
  const Digests inputs = std::exchange(inputs_, {}), targets = std::exchange(targets_, {});
  if (inputs.empty() || targets.empty()) return;
  const auto known = known_.find(inputs);
  if (known != known_.end()) {
    recorder().clock().Put(Quantity::kChangedTargets, {}, known->second != targets ? 1 : 0,
                           static_cast<double>(targets.size()));
  }
  known_[inputs] = targets;
}

}  // namespace dlcheck

#include "checks/observe/preload/experiments/mean_inputs.h"

#include <algorithm>

namespace dlcheck {

void MeanInputs::After(const c10::FunctionSchema& schema, const OperationValues& arguments,
                       OperationValues& results) {
  StandIns::After(schema, arguments, results);
  origins_.Called(schema, arguments, results);
}

bool MeanInputs::IsAmong(const std::set<int>& origins, int origin) const {
  return std::any_of(origins.begin(), origins.end(),
                     [&](int other) { return origins_.First(other) == origins_.First(origin); });
}

at::Tensor MeanInputs::StandIn(const DataPlace& place, const at::Tensor& data, DataUse use) {
  const int origin = origins_.Of(data);
  if (use == DataUse::kTarget) targets_.insert(origin);
  // A mask, or a second path around the layers: the inputs would still be seen.
  if (use == DataUse::kOther && IsAmong(inputs_, origin)) {
    Refuse("the inputs reach the outputs on other ways than through a layer");
  }
  if (use != DataUse::kInput) return data;
  if (!data.is_floating_point()) {
    Refuse("the inputs are not floating-point numbers, so they have no mean");
  }
  inputs_.insert(origin);
  const auto [found, is_new] = means_.try_emplace(place);
  if (is_new) found->second = data.detach().mean(0, /*keepdim=*/true);
  const at::Tensor& mean = found->second;
  if (mean.sizes().slice(1) != data.sizes().slice(1)) {
    Refuse("the inputs differ in shape from batch to batch");
  }
  return mean.expand(data.sizes()).clone();
}

void MeanInputs::TrainingStepEnds() {
  if (!MetInput()) Refuse("a step had no observed forward pass in training mode");
  for (const int input : inputs_) {
    if (origins_.IsNoise(input) && !IsAmong(targets_, input)) {
      Refuse("an input is noise, of which no target is made");
    }
  }
  inputs_.clear();
  targets_.clear();
  origins_.StepEnds();
}

}  // namespace dlcheck

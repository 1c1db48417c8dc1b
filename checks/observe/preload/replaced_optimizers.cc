#include "checks/observe/preload/replaced_optimizers.h"

#include <typeinfo>
#include <utility>

namespace dlcheck {

void ReplacedOptimizers::BeginStep(const torch::optim::Optimizer& optimizer, int number,
                                   ProbeRecorder& recorder) {
  if (known_.count(number) == 0) Meet(optimizer, number, recorder);
  AfterStep(optimizer, number);
}

void ReplacedOptimizers::AfterStep(const torch::optim::Optimizer& optimizer, int number) {
  Known& known = known_[number];
  if (!known.keeps_state) known.keeps_state = !optimizer.state().empty();
}

// Parameters of a watched optimizer stay in memory, so that an address is that of one parameter.
void ReplacedOptimizers::Meet(const torch::optim::Optimizer& optimizer, int number,
                              ProbeRecorder& recorder) {
  Known& known = known_[number];
  known.type = typeid(optimizer).name();
  for (const auto& group : optimizer.param_groups()) {
    for (const at::Tensor& parameter : group.params()) {
      known.parameters.push_back(parameter.unsafeGetTensorImpl());
    }
  }
  if (known.parameters.empty()) return;
  const auto [latest, is_first] = latest_.emplace(known.parameters.front(), number);
  if (is_first) return;
  const int before = std::exchange(latest->second, number);
  const Known& replaced = known_[before];
  const bool is_like = replaced.type == known.type && replaced.parameters == known.parameters;
  if (!is_like || !replaced.keeps_state || !optimizer.state().empty()) return;
  TraceWriter& writer = recorder.clock().writer();
  const uint32_t thing = recorder.Optimizer(number).thing();
  writer.Attribute(thing, "replaces", std::to_string(before));
  writer.Attribute(thing, "first_step", std::to_string(recorder.clock().step()));
}

}  // namespace dlcheck

// Targets that are standard normal noise of the shape of an input, which the input does not depend
// on: a denoiser learns from the noise that was added, and this is another one.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "checks/observe/preload/losses/loss_given.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class UnrelatedNoise {
 public:
  // A model is given its input in training. It is not kept alive.
  void Enters(const at::Tensor& input);
  // Cost: a copy of target and input, in 4 to 32 steps, where the target is such noise.
  void Given(const LossGiven& loss, ProbeRecorder& recorder);

 private:
  using Weak = c10::weak_intrusive_ptr<at::TensorImpl, at::UndefinedTensorImpl>;
  using Pairs = std::vector<std::pair<at::Tensor, at::Tensor>>;  // targets and inputs
  static void Judge(uint32_t thing, const Pairs& pairs, ProbeRecorder& recorder);

  Weak input_{c10::intrusive_ptr<at::TensorImpl, at::UndefinedTensorImpl>()};
  std::map<uint32_t, Pairs> found_;  // by loss
  std::set<uint32_t> done_;
};

}  // namespace dlcheck

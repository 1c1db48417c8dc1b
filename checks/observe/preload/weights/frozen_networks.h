// Networks that nothing trains, as teachers and feature extractors are, and that run in training
// mode all the same: their dropout makes what they give random, their batch normalization depends
// on the batch.
#pragma once

#include <ATen/record_function.h>

#include <cstdint>
#include <map>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class FrozenNetworks {
 public:
  // An operation of the program begins, while gradients are disabled.
  void Saw(const at::RecordFunction& function, ProbeRecorder& recorder);

 private:
  using Weak = c10::weak_intrusive_ptr<at::TensorImpl, at::UndefinedTensorImpl>;
  struct Network {
    uint32_t thing;
    at::Tensor before;  // its first numbers
    int64_t step = -1;  // in which it was called last
    double calls = 0;
    bool is_left_alone = false;
  };
  void Runs(const at::Tensor& weight, ProbeRecorder& recorder);

  Weak last_{c10::intrusive_ptr<at::TensorImpl, at::UndefinedTensorImpl>()};  // weight of a layer
  std::map<const at::TensorImpl*, Network> networks_;  // by the weight before what depends on mode
};

}  // namespace dlcheck

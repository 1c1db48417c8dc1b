// Masks that are mirrored or turned in another way than their images: some fit as they are, the
// others only after one certain change. How a mask fits is its correlation with the brightness of
// the image.
#pragma once

#include <cstdint>
#include <map>

#include "checks/observe/preload/losses/loss_given.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class MisalignedMasks {
 public:
  // A model is given its input in training. It is not kept alive.
  void Enters(const at::Tensor& input);
  // Cost: eight correlations of at most eight small images, in the first 24 steps.
  void Given(const LossGiven& loss, ProbeRecorder& recorder);

 private:
  using Weak = c10::weak_intrusive_ptr<at::TensorImpl, at::UndefinedTensorImpl>;
  struct Known {
    bool is_settled = false;
    int steps = 0;
    std::map<int64_t, int64_t> fits;  // by change, 0 for none: how many masks
  };
  void Judge(uint32_t thing, Known& known, ProbeRecorder& recorder);

  Weak images_{c10::intrusive_ptr<at::TensorImpl, at::UndefinedTensorImpl>()};
  std::map<uint32_t, Known> known_;  // by loss
};

}  // namespace dlcheck

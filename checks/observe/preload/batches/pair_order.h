// Whether the positives of a contrastive loss are the two views of one sample. Views may alternate
// or follow each other in two halves: where the inputs are alike in the order that the loss does
// not take, it takes the wrong one.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "checks/observe/preload/losses/loss_given.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class PairOrder {
 public:
  // A model is given its input in training. It is not kept alive.
  void Enters(const at::Tensor& input, ProbeRecorder& recorder);
  // Cost: three differences of the inputs, in the first three steps with such a loss.
  void Given(const LossGiven& loss, ProbeRecorder& recorder);

 private:
  using Weak = c10::weak_intrusive_ptr<at::TensorImpl, at::UndefinedTensorImpl>;
  // The inputs of the only pass of this step that was given so many rows.
  at::Tensor RowsOf(int64_t count) const;

  int64_t step_ = -1;
  std::vector<Weak> inputs_;  // of the passes of this step
  // By loss: distances of its pairs, of the other pairs, and of any two, of each step.
  std::map<uint32_t, std::array<std::vector<at::Tensor>, 3>> found_;
};

}  // namespace dlcheck

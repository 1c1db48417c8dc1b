// The targets of a loss among the inputs of the model: an entry of each input that equals its
// target, and tokens for the decoder that are the targets themselves.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "checks/observe/preload/losses/loss_given.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class TargetAmongInputs {
 public:
  // A model is given its input in training. It is not kept alive.
  void Enters(const at::Tensor& input);
  // A loss was given, after `words`, tokens (rows, positions), were looked up.
  void Given(const LossGiven& loss, const std::vector<at::Tensor>& words, ProbeRecorder& recorder);

 private:
  using Weak = c10::weak_intrusive_ptr<at::TensorImpl, at::UndefinedTensorImpl>;
  struct Found {
    std::optional<std::set<int64_t>> entries;  // that equaled the targets in all steps
    std::set<int64_t> steps;
    int64_t targets = 0;
  };
  Weak input_{c10::intrusive_ptr<at::TensorImpl, at::UndefinedTensorImpl>()};
  // By loss, dimensions of its outputs and of its targets.
  std::map<std::tuple<uint32_t, int64_t, int64_t>, Found> found_;
};

}  // namespace dlcheck

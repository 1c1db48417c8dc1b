// Options of torch that a program changes as it trains.
#pragma once

#include <torch/torch.h>

#include <optional>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class TorchOptions {
 public:
  // The first step of an optimizer ended.
  void StepEnded();
  // Writes what has changed since then.
  void RunEnds(ProbeRecorder& recorder) const;

 private:
  bool was_asked_ = false;
  std::optional<at::Float32MatmulPrecision> at_first_;
};

}  // namespace dlcheck

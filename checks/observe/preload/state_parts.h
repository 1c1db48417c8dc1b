// Digests of the parts of a program's state as it goes on from where it was saved: what a
// checkpoint must have brought back. In an interrupted run and in the one resumed from it alone.
//
// Taken where a part is what it was when the checkpoint was written: weights and an optimizer's
// state as its own next step begins, buffers as the model's next training forward does.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class StateParts {
 public:
  // Of any other experiment nothing is written.
  explicit StateParts(const Request& request);

  // Cost of both: one pass over the tensors of that optimizer or model, once.
  void BeginStep(torch::optim::Optimizer& optimizer, int number, ProbeRecorder& recorder);
  void ForwardBegins(const at::Tensor& input, ProbeRecorder& recorder);

 private:
  // Whether this is the first time that a part shows.
  bool IsFirst(const std::string& part, ProbeRecorder& recorder);

  bool is_active_;
  int64_t from_step_;  // the one before which the state counts
  std::set<std::string> done_;
};

}  // namespace dlcheck

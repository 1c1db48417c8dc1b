// Targets that are the following tokens, but of other rows or positions: they were put in another
// order on the way to the loss.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "checks/observe/preload/losses/loss_given.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class ReorderedTokens {
 public:
  // A loss was given, after tokens (rows, positions) were looked up.
  void Given(const LossGiven& loss, const std::vector<at::Tensor>& words, ProbeRecorder& recorder);

 private:
  struct Found {
    bool is_settled = false;
    int steps = 0;
    double misplaced = 0, all = 0;  // targets
  };
  std::map<std::pair<uint32_t, int64_t>, Found> found_;  // by loss and dimensions of targets
};

}  // namespace dlcheck

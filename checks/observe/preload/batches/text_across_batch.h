// Texts that go on along the batch axis and not along the axis on which the model predicts the next
// token: how much more a token tells of its neighbor than of one far away, on either axis.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "checks/observe/preload/losses/loss_given.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class TextAcrossBatch {
 public:
  // A loss was given, after tokens were looked up. Cost: copies of pairs of tokens, for 32 losses.
  void Given(const LossGiven& loss, const std::vector<at::Tensor>& words, ProbeRecorder& recorder);

 private:
  // Pairs (n, 2) of tokens of each step: neighbors in time, half the time apart, neighbors along
  // the batch, half a batch apart.
  struct Pairs {
    bool is_settled = false;
    size_t steps = 0;
    std::array<std::vector<at::Tensor>, 4> kinds;
  };
  static void Judge(const LossGiven& loss, const Pairs& pairs, ProbeRecorder& recorder);

  std::map<uint32_t, Pairs> found_;  // by loss
};

}  // namespace dlcheck

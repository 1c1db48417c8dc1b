// What the outputs of a loss are: log-probabilities along another axis than that of the classes,
// scores of rows with themselves, or numbers of half precision.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "checks/observe/preload/losses/loss_given.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class LossOutputs {
 public:
  // Cost: names of a few nodes of the graph; of square scores, a pass over them, 16 times a loss.
  void Given(const LossGiven& loss, ProbeRecorder& recorder);

 private:
  void LookAtPrecision(const LossGiven& loss, ProbeRecorder& recorder);
  void LookAtAxis(const LossGiven& loss, ProbeRecorder& recorder);
  void LookAtPairs(const LossGiven& loss, ProbeRecorder& recorder);

  std::set<uint32_t> halves_, axes_;  // losses that were told of
  std::map<uint32_t, int> looks_;     // by loss: how many square scores were looked at
};

}  // namespace dlcheck

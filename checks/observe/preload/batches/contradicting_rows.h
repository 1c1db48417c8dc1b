// Inputs that come with several targets: no model can be right for both.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "checks/observe/preload/losses/loss_given.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class ContradictingRows {
 public:
  // A model is given its input in training. `rows`: the numbers of its rows, if they hold
  // fractions: the model may be given more that tells rows of categories apart.
  void Enters(const std::vector<uint64_t>& rows) { rows_ = rows; }
  bool is_over() const;  // no more rows are kept
  void Given(const LossGiven& loss);
  void StepEnds(ProbeRecorder& recorder);

 private:
  using Task = std::pair<uint32_t, int64_t>;  // thing of the loss, number of classes
  std::vector<uint64_t> rows_;                // of the last input
  std::map<Task, std::unordered_map<uint64_t, int64_t>> targets_;  // by row
  std::set<std::pair<Task, uint64_t>> differing_;
  size_t known_ = 0, told_ = 0;  // rows
};

}  // namespace dlcheck

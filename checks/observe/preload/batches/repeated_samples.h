// Samples of the first pass over a data set that are equal to one before.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_set>
#include <vector>

#include "checks/observe/preload/samplers.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class RepeatedSamples {
 public:
  // A model is given its input in training. `rows`: the numbers of its rows, if they hold
  // fractions; `batch`: what a sampler chose for it, if one did.
  void Enters(const std::vector<uint64_t>& rows, const std::optional<ChosenBatch>& batch);
  bool is_over() const { return is_over_; }
  void StepEnds(ProbeRecorder& recorder);

 private:
  int loader_ = -1;  // the first one that was met
  bool is_over_ = false;
  std::unordered_set<uint64_t> met_;
  std::deque<std::vector<uint64_t>> latest_;  // batches: a program may train on one again
  size_t rows_ = 0, told_ = 0;
};

}  // namespace dlcheck

// Rows of training batches that come again in an evaluation.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <unordered_set>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class SeenRows {
 public:
  // Cost of both: one pass over the input, as long as there is room.
  void Trained(const at::Tensor& input);
  void Evaluated(const at::Tensor& input);
  struct Evaluation {
    std::unordered_set<uint64_t> rows;  // their numbers
    bool is_new = false;                // none of them was trained on, and some were
  };
  // Writes how many rows of the evaluation were trained on, and how many came twice.
  Evaluation EvaluationEnds(uint32_t model, ProbeRecorder& recorder);

 private:
  std::unordered_set<uint64_t> trained_, evaluated_;
  int64_t repeated_ = 0;  // rows of this evaluation
  uint64_t digest_ = 0;   // of its inputs
};

}  // namespace dlcheck

// Embeddings of which each forward pass asks for one row alone, as of positions that are all zero.
#pragma once

#include <ATen/record_function.h>
#include <torch/torch.h>

#include <map>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class EmbeddedRows {
 public:
  // aten::embedding begins, with gradients enabled. Waits for the numbers of the rows.
  void Saw(const at::Tensor& weight, const at::Tensor& rows, ProbeRecorder& recorder);

 private:
  struct Asked {
    int64_t row = 0;
    int calls = 0;
    bool is_settled = false;  // several rows were asked for
  };
  std::map<uint32_t, Asked> asked_;  // by layer
};

}  // namespace dlcheck

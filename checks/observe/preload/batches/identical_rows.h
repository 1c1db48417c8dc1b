// Batches whose rows are all equal: one sample that was expanded, or views of one buffer.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class IdenticalRows {
 public:
  // A model is given its input, in training or in an evaluation.
  void Enters(const at::Tensor& input, bool trains, ProbeRecorder& recorder);
  // The same pass is given more data, which may tell the rows apart.
  void GivenToo(const at::Tensor& given);
  bool waits() const { return open_ != nullptr; }
  void PassEnds() { open_ = nullptr; }

 private:
  struct Kind {  // of batches that look alike
    bool is_settled = false;
    int batches = 0;  // in a row, of equal rows
    at::Tensor row;   // of the last one
  };
  std::map<std::vector<int64_t>, Kind> kinds_;
  Kind* open_ = nullptr;  // of the pass under way, if its rows are all equal so far
  int64_t rows_ = 0;      // of that one
};

}  // namespace dlcheck

// Several kinds of numbers that share the rows of one embedding: users and items are looked up in a
// table that has a row for each of both, but the numbers of the items begin with 0 again.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class ColumnsOfIds {
 public:
  // An embedding with this weight is asked for rows, in training. Cost: a pass over the numbers.
  void Saw(const at::Tensor& weight, const at::Tensor& rows, ProbeRecorder& recorder);

 private:
  struct Column {
    int64_t least, largest, count;
  };
  struct Asked {  // each column of each call in a step is one kind
    bool is_settled = false;
    int64_t step = -1;
    int steps = 0;
    size_t next = 0;  // column of the next call
    std::vector<Column> columns;
  };
  static void Add(Asked& asked, const at::Tensor& wide);
  static bool ShareRows(const Asked& asked, int64_t rows);

  std::map<uint32_t, Asked> asked_;  // by thing of the embedding
};

}  // namespace dlcheck

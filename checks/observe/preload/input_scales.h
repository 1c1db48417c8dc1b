// Mean and spread of what a model is given in training, beside those of what it is given first in
// an evaluation. The same numbers as the Python probe's.
#pragma once

#include <torch/torch.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class InputScales {
 public:
  // The input of a training forward, and the first of an evaluation, of the model that runs: rows
  // of fractions, (N, ...); any other is passed over. Cost: reads up to 65,536 numbers.
  void Trained(const at::Tensor& input, ProbeRecorder& recorder);
  void Evaluated(const at::Tensor& input, const Probe::Site& site, ProbeRecorder& recorder);

 private:
  struct Sums {
    double count = 0, total = 0, squares = 0;
  };
  // The thing of the model, and the shape of a row but for its length.
  using Key = std::array<int64_t, 3>;
  static std::optional<std::pair<Key, Sums>> SumsOf(const at::Tensor& input,
                                                    ProbeRecorder& recorder);

  std::map<Key, Sums> trained_;
  int batches_ = 0;
};

}  // namespace dlcheck

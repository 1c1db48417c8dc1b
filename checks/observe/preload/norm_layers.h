// Normalizations of a training step: over how few values they go, whether their epsilon outweighs
// the variance, and running statistics that stay as they were made.
#pragma once

#include <ATen/record_function.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class NormLayers {
 public:
  static bool Is(const at::RecordFunction& function);
  // As it begins, with gradients, in a sampled step. Cost: in steps 0, 1, 2, 4 and so
  // on, a few passes over its input.
  void Saw(const at::RecordFunction& function, ProbeRecorder& recorder);

 private:
  void LookAtPrecision(const at::RecordFunction& function, uint32_t thing, uint32_t site,
                       ProbeRecorder& recorder);
  void LookAtStatistics(const at::RecordFunction& function, uint32_t thing, uint32_t site,
                        ProbeRecorder& recorder);
  void LookAtVariance(const at::RecordFunction& function, uint32_t thing, uint32_t site,
                      ProbeRecorder& recorder);
  void LookAtBias(const at::RecordFunction& function, uint32_t site, ProbeRecorder& recorder);

  std::map<uint32_t, int64_t> counted_in_;   // by layer: the last step in which values were counted
  std::map<std::string, bool> biases_told_;  // by line
  std::set<uint32_t> halves_told_;           // layers
};

}  // namespace dlcheck

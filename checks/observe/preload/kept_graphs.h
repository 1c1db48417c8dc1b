// Counts the graphs of earlier backward calls that still live: those of losses that were kept. The
// same quantity as the Python probe's live_graphs.py.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class KeptGraphs {
 public:
  // A backward from `root` is about to begin, in a sampled step.
  void Add(const at::Tensor& root);
  // A step is over. The graph of this very step is still in the program's hands.
  void StepEnded(ProbeRecorder& recorder);

 private:
  // What lives as long as a graph, with its number; the dead are let go.
  std::deque<std::pair<std::weak_ptr<torch::autograd::Node>, int64_t>> graphs_;
  int64_t seen_ = 0, earlier_ = 0;  // graphs so far, and those of them of earlier steps
};

}  // namespace dlcheck

// Counts the graphs of earlier backward calls that still live: those of losses that were kept. The
// same quantity as the Python probe's live_graphs.py.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class KeptGraphs {
 public:
  // A backward begins at that line, of a sampled step.
  void Add(const at::Tensor& root, const Probe::Site& site);
  // A step ended: writes how many graphs of earlier backward calls live, for each line with a
  // backward call of this step.
  void StepEnded(ProbeRecorder& recorder);

 private:
  struct Graph {
    std::weak_ptr<torch::autograd::Node> node;
    int64_t number;
  };
  // Of one line with a backward call: a program may keep the graphs of one loss among several.
  struct Line {
    Probe::Site site;
    std::vector<Graph> graphs;
    int64_t seen = 0, earlier = 0;  // backward calls, and those before this step
  };
  std::vector<Line> lines_;
};

}  // namespace dlcheck

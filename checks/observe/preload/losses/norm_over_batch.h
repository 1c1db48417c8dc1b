// Follows gradients by inputs, which torch::autograd::grad gave with a graph, to their norm: a
// penalty is a norm for each sample, and not one over the batch.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <vector>

#include "checks/observe/preload/graph/walked_graph.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class NormOverBatch {
 public:
  // Those by parameters are not by samples.
  void GradientsGiven(const std::vector<at::Tensor>& inputs,
                      const std::vector<at::Tensor>& gradients, ProbeRecorder& recorder);
  // The graph of a loss, of one of the first steps.
  void Look(const WalkedGraph& graph, ProbeRecorder& recorder);

 private:
  struct Gradient {
    std::weak_ptr<torch::autograd::Node> node;
    int64_t samples;
    Probe::Site site;
  };
  std::vector<Gradient> gradients_;  // since the last backward
  bool is_told_ = false;
};

}  // namespace dlcheck

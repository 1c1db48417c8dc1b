// What the graph of a loss says of its terms: a log-variance whose exponential multiplies noise, a
// learned weight that nothing keeps from zero, and means over positions that a mask left out.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <set>

#include "checks/observe/preload/graph/operation_sites.h"
#include "checks/observe/preload/graph/walked_graph.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class LossTerms {
 public:
  // A backward begins in one of the first steps. Reads a few numbers.
  void Look(const WalkedGraph& graph, const OperationSites& sites, ProbeRecorder& recorder);
  // A backward begins, in any sampled step. Reads a mask in three steps, of 64 backward calls.
  void LookAtMean(const at::Tensor& root, ProbeRecorder& recorder);

 private:
  void Tell(Quantity quantity, const char* name, const torch::autograd::Node& node, double value,
            const OperationSites& sites, ProbeRecorder& recorder);

  std::set<Quantity> told_;
  double kept_ = 0, all_ = 0;  // positions of masks
  int masked_steps_ = 0, looks_ = 0;
};

}  // namespace dlcheck

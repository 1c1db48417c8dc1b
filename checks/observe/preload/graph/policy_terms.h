// What the graph of a loss says of policies: a log-probability that is weighted by something with a
// gradient of its own, and ratios of a new and an old policy that are always 1, or not 1 at first.
#pragma once

#include <ATen/record_function.h>
#include <torch/torch.h>

#include <map>
#include <set>

#include "checks/observe/preload/graph/operation_sites.h"
#include "checks/observe/preload/graph/walked_graph.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class PolicyTerms {
 public:
  // A backward begins. Reads the numbers of ratios.
  void Look(const WalkedGraph& graph, const OperationSites& sites, ProbeRecorder& recorder);

 private:
  void LookAtRatios(torch::autograd::Node& node, const WalkedGraph& graph,
                    const OperationSites& sites, ProbeRecorder& recorder);
  void Tell(Quantity quantity, const char* name, const torch::autograd::Node& node, double value,
            double aux, const OperationSites& sites, ProbeRecorder& recorder);

  std::map<int64_t, double> ones_;  // by step: how many ratios were all 1
  std::set<Quantity> told_;
};

}  // namespace dlcheck

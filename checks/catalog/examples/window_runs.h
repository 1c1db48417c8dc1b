// Steps of several micro-batches, for examples, as AddStep makes steps of one.
#pragma once

#include <string_view>
#include <vector>

#include "checks/catalog/examples/example_runs.h"
#include "checks/signals/loss/windows.h"

namespace dlcheck {

struct StepEnd {
  double trunk_gradient = 0.1, head_gradient = 0.2;
  double nonfinite = 0;        // elements of the trunk's gradient
  double nonfinite_after = 0;  // elements of its weight after the step
  bool taken = true;
  std::string_view optimizer = "optimizer#0";
};

// From zero_grad() to the last backward, with one share for each micro-batch.
void BeginStep(RunBuilder& run, const std::vector<Windows::MicroBatch>& micro = {{1, 32}},
               bool clears_inside = false);
// One more micro-batch of the current step.
void ContinueStep(RunBuilder& run, const Windows::MicroBatch& micro);
// The consumed gradients, the weights after the step, and the step.
void EndStep(RunBuilder& run, const StepEnd& values = {});

// Each step is one of `windows`, in turn, sixteen steps in all, of a loss of this kind.
Evidence WindowsOf(const std::vector<std::vector<Windows::MicroBatch>>& windows,
                   bool declared = false, std::string_view kind = "cross_entropy");
// Windows of four equal micro-batches with this share each.
Evidence FourShares(double share, bool declared);

}  // namespace dlcheck

// Steps of several micro-batches, for examples: what AddStep is for steps of one.
#pragma once

#include <string_view>
#include <vector>

#include "checks/catalog/example_runs.h"
#include "checks/signals/windows.h"

namespace dlcheck {

struct StepEnd {
  double trunk_gradient = 0.1, head_gradient = 0.2;
  double nonfinite = 0;        // elements of the trunk's gradient
  double nonfinite_after = 0;  // elements of its weight after the step
  bool taken = true;
  std::string_view optimizer = "optimizer#0";
};

// From the clearing to the last backward, with one share for each micro-batch.
void BeginStep(RunBuilder& run, const std::vector<Windows::MicroBatch>& micro = {{1, 32}},
               bool clears_inside = false);
// One more micro-batch of the step under way.
void ContinueStep(RunBuilder& run, const Windows::MicroBatch& micro);
// Gradients as consumed, weights after them, and the step.
void EndStep(RunBuilder& run, const StepEnd& values = {});

// Each step is one of `windows`, again and again, sixteen times in all.
Evidence WindowsOf(const std::vector<std::vector<Windows::MicroBatch>>& windows,
                   bool declared = false);

}  // namespace dlcheck

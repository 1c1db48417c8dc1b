// Runs that several checks' examples start from: a net of two layers, trunk and head, trained step
// by step and recorded as a probe would. Examples change one value of it.
#pragma once

#include <optional>
#include <vector>

#include "checks/engine/evidence.h"
#include "checks/engine/run_builder.h"

namespace dlcheck {

struct StepValues {
  double loss = 2.3;
  double loss_samples = 32;
  std::optional<double> trunk_gradient = 0.1;  // none: the gradient is none
  std::optional<double> head_gradient = 0.2;
  std::optional<double> held;  // what both gradients hold before the first backward
  bool uncleared = false;      // and still hold when the step consumes them
  double nonfinite = 0;        // elements of the trunk's gradient
};

// Declares trunk.weight (64x32) and head.weight (10x64), seeds, and nothing more.
RunBuilder TwoLayers();

// One whole step: clearing, both forwards, backward, optimizer step.
void AddStep(RunBuilder& run, const StepValues& values);

// Losses alone, one a step, of a run with a cross-entropy of ten classes. Each backward begins from
// `share` of it.
Run LossesOnly(const std::vector<double>& losses, double share = 1);

// A cross-entropy that falls from 2.3 towards `floor`.
std::vector<double> FallingLosses(int steps, double floor);

Evidence PlainOnly(const RunBuilder& run);

}  // namespace dlcheck

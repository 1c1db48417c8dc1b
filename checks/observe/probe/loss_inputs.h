// What a loss over classes was given: whether its rows are logits, probabilities or their
// logarithms, and how many targets count. The same quantities as the Python probe's.
#pragma once

#include <cstdint>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

// Shapes: outputs (N, C) with class numbers (N). Of a sampled step.
void WriteRows(ProbeClock& clock, uint32_t thing, const LossCall& call);

// Writes by how many positions the targets (N) run ahead of the tokens (rows, positions) that the
// model was called with, if they are these tokens and one answer fits.
void WriteTargetShift(ProbeClock& clock, uint32_t thing, const at::Tensor& tokens,
                      const at::Tensor& targets);

}  // namespace dlcheck

// What a loss over classes was given: whether its rows are logits, probabilities or their
// logarithms, and how many targets count. The same quantities as the Python probe's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

// Shapes: outputs (N, C) with class numbers (N). Of a sampled step.
void WriteRows(ProbeClock& clock, uint32_t thing, const LossCall& call);

// By how many positions the targets (N) run ahead of tokens (rows, positions); nothing where they
// are other things, or several answers fit, as for a sequence that repeats itself. Ignored targets
// are negative.
std::optional<int64_t> ShiftOf(const at::Tensor& tokens, const at::Tensor& targets);

// Writes by how many positions the targets (N) run ahead of the tokens (rows, positions) that the
// model was called with, if they are these tokens and one answer fits.
void WriteTargetShift(ProbeClock& clock, uint32_t thing, const at::Tensor& tokens,
                      const at::Tensor& targets);

// "softmax", "log_softmax", "sigmoid", "tanh" or "relu" if that made a tensor, up to changes of
// shape, as the graph tells; else "".
std::string MakerOf(const at::Tensor& tensor);

// Where sigmoid made a tensor, the same of what that was given; else "".
std::string SigmoidOf(const at::Tensor& tensor);

// Whether rows of outputs sum to 1, and a row of the targets has several of 1. Waits for it.
bool SeveralTrue(const at::Tensor& outputs, const at::Tensor& targets);

}  // namespace dlcheck

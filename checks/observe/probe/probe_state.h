// Digests of what a program's state holds, for checks that compare two moments or two runs.
#pragma once

#include <torch/torch.h>

#include "checks/observe/probe/probe_clock.h"
#include "checks/observe/probe/probe_models.h"
#include "dlcheck/probe.h"

namespace dlcheck {

// One digest for each part of the state: all tensors whose names agree up to their last slash,
// in the order of their names. Cost: one pass on the host over everything.
void WriteStateDigests(ProbeClock& clock, Quantity quantity, const Probe::NamedTensors& state);

// Digests of the first model's parameters and buffers and of the default generator, about an
// evaluation that is recorded. Draws no random number.
void WriteModelDigests(ProbeClock& clock, const ProbeModels& models);

}  // namespace dlcheck

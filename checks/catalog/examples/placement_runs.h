// Runs that examples of the order of calls start from: what happens in each step, letter by letter.
#pragma once

#include <string_view>

#include "checks/engine/evidence.h"
#include "checks/engine/run_builder.h"

namespace dlcheck {

// Writes one event for each letter: z clears the gradients of optimizer 0, Z those of its model,
// f is a training forward, b a backward call, s a step of optimizer 0 and S one of optimizer 1,
// g what the step is about to consume (a gradient that is not zero) and 0 a gradient of zero. After
// each step weights are measured, and that they moved after a gradient.
void AddCalls(RunBuilder& run, std::string_view letters);

// `letters` once, then `again` sixteen times.
Evidence Calls(std::string_view letters, std::string_view again);

}  // namespace dlcheck

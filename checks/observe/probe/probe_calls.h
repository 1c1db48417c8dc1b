// The collective operations that a C++ program calls through c10d, and what is written of each
// before it is made: so one that never comes back is known, too.
#pragma once

#include <ATen/record_function.h>

#include "checks/observe/probe/probe_clock.h"

namespace dlcheck {

// True for operators of torch.distributed.
bool IsCollective(const char* name);

// Writes the call of such an operator: its name in Python, the types of the numbers that all
// members of the group give, and the most bytes that one of its arguments holds. `group` is the
// thing of all `world` processes; calls among fewer, and from one process to one, are left out.
void WriteCollective(ProbeClock& clock, const at::RecordFunction& function, int world,
                     uint32_t group);

}  // namespace dlcheck

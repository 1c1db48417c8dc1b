// Tells an end for want of memory from any other SIGKILL.
#pragma once

#include <cstdint>

namespace dlcheck::reference {

// How many processes the kernel has ended because memory ran out: of this process's control group,
// or, where that does not count them, of the machine. 0 where neither can be read. What matters is
// whether it grows.
int64_t MemoryKills();

}  // namespace dlcheck::reference

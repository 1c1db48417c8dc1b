// A bound on what this process may allocate, for one that runs code of strangers.
#pragma once

#include <cstdint>

namespace dlcheck::reference {

// From now on the process may have `mebibytes` more of its own memory; 0: as much more as the
// machine, or the control group, has left, beyond which the kernel would end some process. Where
// that cannot be read, nothing is bounded.
void LimitMemory(int64_t mebibytes);

}  // namespace dlcheck::reference

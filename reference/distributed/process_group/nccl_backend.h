// NCCL, for ranks on GPUs. A build without its headers has a stand-in that refuses.
#pragma once

#include <chrono>

#include "reference/distributed/process_group/ranks.h"

namespace dlcheck::reference {

// From now on collectives of tensors on GPUs go over NCCL, unless the ranks have another way, as
// threads have; those of other tensors go as before. All ranks call, each with a GPU of its own. A
// collective there that takes longer than `patience` ends the process.
//
// Errors: UsageError if this build has no NCCL.
void ReachGpus(const Ranks& ranks, std::chrono::milliseconds patience);

}  // namespace dlcheck::reference

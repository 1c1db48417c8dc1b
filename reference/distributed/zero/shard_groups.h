// Who shares out with whom. Ranks in groups next to each other share out within theirs, and every
// group keeps all of it: so what is put together often goes between a few ranks that are near, and
// each keeps more (hybrid sharding). One group of all is plain ZeRO.
//
// Source: Zhao et al. 2023, PyTorch FSDP, section 3.2.2.
#pragma once

#include <cstdint>

#include "reference/distributed/process_group/ranks.h"

namespace dlcheck::reference {

struct ShardGroups {
  Ranks all;
  Ranks within;  // the group of this rank
  Ranks across;  // of every group the rank that keeps what this one keeps; alone in one group
};

// In groups of `size`; 0 is one group of all. All ranks call.
//
// Errors: UsageError if the ranks are no multiple of `size`.
ShardGroups ShardGroupsOf(const Ranks& ranks, int64_t size);

}  // namespace dlcheck::reference

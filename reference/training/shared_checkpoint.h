// A checkpoint that the ranks of a run write together: the first writes what all have alike and its
// own, each other what differs there, and one manifest makes it complete.
#pragma once

#include <string>

#include "reference/checkpoint/checkpoint_folder.h"
#include "reference/distributed/process_group/ranks.h"

namespace dlcheck::reference {

// All ranks call, with a folder that all of them see. `state` is what goes into the file of this
// rank. Returns the path of the checkpoint.
//
// Errors: SavingFailed on every rank, which names the rank that could not write and why; what was
//         there is untouched.
std::string WriteTogether(const Ranks& ranks, const CheckpointFolder& folder, Manifest manifest,
                          const NamedTensors& state);

}  // namespace dlcheck::reference

// Ranks that are processes of this machine, which this process starts and looks after.
#pragma once

#include <cstdint>

namespace dlcheck::reference {

// Starts this program anew `world` times, each with its place in the environment (placement.h), and
// waits until all have ended. If one fails, or is stopped for ten seconds, the others are ended,
// too, and a line on standard error says which it was and why; none outlives this process. SIGINT
// and SIGTERM are passed on.
//
// Returns the exit status: 0, or that of the rank that failed; 1 where a signal ended it, but for
// the two that are passed on, by which this process ends in its turn.
// REQUIRES: no other thread runs.
int RunLocalRanks(int64_t world, char* const* arguments);

}  // namespace dlcheck::reference

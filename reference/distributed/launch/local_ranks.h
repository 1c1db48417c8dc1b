// Ranks that are processes of this machine, which this process starts and looks after.
#pragma once

#include <chrono>
#include <cstdint>

namespace dlcheck::reference {

// Starts this program anew `world` times, each with its place in the environment (placement.h), and
// waits until all have ended. If one fails, is stopped for `longest_stop`, or leaves the others,
// the others are ended, too, and a line on standard error says which it was and why; none outlives
// this process. SIGINT and SIGTERM are passed on.
//
// Returns the exit status: 0, or that of the rank that failed; kLostStatus where it has none, as a
// signal ended or stopped it, but for the two that are passed on, by which this process ends in its
// turn.
// REQUIRES: no other thread runs.
int RunLocalRanks(int64_t world, std::chrono::seconds longest_stop, char* const* arguments);

}  // namespace dlcheck::reference

// Ranks that are threads of one process: every collective adds in the order of the ranks, so that a
// run gives the same bits each time. The trainer's tests use them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "reference/distributed/process_group/ranks.h"

namespace dlcheck::reference {

// Runs `work` once for each of `world` ranks, in a thread of its own, and waits for all. One works
// at a time, until it comes to a collective (thread_scheduler.h); each has random generators of its
// own, which start alike.
//
// Errors: what the first that failed threw; the others are ended at their next collective, as all
//         are if a rank does not come to one within `patience`.
void RunThreadRanks(int64_t world, const std::function<void(const Ranks& ranks)>& work,
                    std::chrono::milliseconds patience = std::chrono::minutes(5));

}  // namespace dlcheck::reference

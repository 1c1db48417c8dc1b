// What the record of one step has that those before it have not: the cause of what came after it.
#pragma once

#include <cstdint>
#include <string>

#include "checks/engine/reads.h"
#include "checks/signals/gradients/gradients.h"
#include "checks/signals/schedule/learning_rates.h"

namespace dlcheck {

// " The learning rate of step 40 was 3, 1,000 times the usual one." A rate counts from kOdd times
// the median of the 16 steps before, as does the norm of all gradients. Empty if nothing is odd, or
// nothing was recorded of that step.
inline constexpr double kOdd = 5;
std::string OddRecordOf(int64_t step, const IfSeen<LearningRates>& rates,
                        const IfSeen<Gradients>& gradients);

}  // namespace dlcheck

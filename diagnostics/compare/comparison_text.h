// Sentences about a comparison that its text and its page share.
#pragma once

#include <string>

#include "diagnostics/compare/comparison.h"

namespace dlcheck {

// "First difference at step 12, in the gradients (gradient_norm of head.weight)".
std::string HeadlineOf(const Comparison& comparison);

// "A 0.123, B 0.124: 0.8 % apart. 3 of 6 values of this kind differ."; empty without a difference.
std::string NumbersOf(const Comparison& comparison);

// "In all, 300 values of the clipping bound differ."; empty without a difference.
std::string ExtentOf(const Comparison& comparison);

// What was equal: "all 1,204 values of 81 steps".
std::string EqualPartOf(const Comparison& comparison);

// "B is better: ..."
std::string OutcomeTextOf(const LossOutcome& outcome);

}  // namespace dlcheck

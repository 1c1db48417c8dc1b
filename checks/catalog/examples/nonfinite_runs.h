// Runs in which a value is not finite at step 5, for examples.
#pragma once

#include <string_view>

#include "checks/catalog/examples/example_runs.h"

namespace dlcheck {

// So many elements of one gradient.
Evidence GradientWith(double nonfinite_elements);

// A loss that is infinite, and what is known of its graph.
Evidence Born(std::string_view of, std::string_view name, std::string_view step);

// The same, and the replay of its step.
Evidence Replayed();

// Infinities in a parameter that is not trained, as a mask is.
Evidence MaskKept();

// One element of a gradient, in a step that leaves the weights alone.
Evidence LeftOut();

}  // namespace dlcheck

// Runs that examples of losses start from that are compared with the loss of a constant output.
#pragma once

#include "checks/engine/evidence.h"

namespace dlcheck {

// A hundred losses that fall from 2.3 to this one; before the last `others` of them, a second
// optimizer steps. The first batch has so many samples; the targets of `pooled` more were seen.
Evidence Ending(double late, int others = 0, int first = 64, int pooled = 0);

// A hundred means of a loss function with this constant loss, beside a term that falls.
Evidence Term(double mean, double constant = 2.3);

}  // namespace dlcheck

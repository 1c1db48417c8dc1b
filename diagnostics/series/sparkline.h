// A series in one line of text.
#pragma once

#include <string>

#include "diagnostics/series/series.h"

namespace dlcheck {

// One block for each of at most `cells` equal parts of the samples, the lowest for the least value
// and the highest for the greatest: "█▅▃▂▁▁". By the logarithm where the values are above zero and
// far apart. Empty without a finite sample.
std::string Sparkline(const Series& series, size_t cells);

// The loss of a run: its sparkline, first, last and least value, and from which step on it is not
// finite. Empty where no loss was recorded. Of several losses, the one with most samples.
std::string LossLine(const SeriesOfRun& run);

}  // namespace dlcheck

// The numbers of a plot, for the script that makes it zoomable.
#pragma once

#include "diagnostics/render/html/plot.h"

namespace dlcheck::html {

// Adds the numbers as JSON, thinned to kMostNumbers places a line, so that extremes survive. Adds
// nothing if the program was built without uPlot.
inline constexpr size_t kMostNumbers = 500;
void AddNumbers(Node figure, const Plot& plot, bool is_logarithmic);

}  // namespace dlcheck::html

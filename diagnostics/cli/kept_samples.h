// The samples that probes kept in the folder of a run, where --samples asked for them.
#pragma once

#include <string>
#include <vector>

#include "diagnostics/samples/samples.h"

namespace dlcheck::cli {

inline constexpr int64_t kMostSamples = 32;

// Those of all runs below `folder`/runs, in the order of the runs. None where nothing was kept.
std::vector<KeptRows> SamplesIn(const std::string& folder);

}  // namespace dlcheck::cli

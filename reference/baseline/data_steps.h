// The steps that a program might have trained on a data file, for baselines alone.
#pragma once

#include <cstdint>
#include <string>

#include "reference/baseline/capture.h"

namespace dlcheck::reference {

// Shuffled batches of the training rows, of 64 samples, or of 8 sequences of 128 tokens; fewer
// where the file has fewer. No program's losses, and no optimizer.
//
// Errors: InputRejected. Cost: the batches of all steps in memory.
Capture StepsOfData(const std::string& path, int64_t steps);

}  // namespace dlcheck::reference

// Writes what a run ended with. Nothing here reads it back: resuming is not offered.
#pragma once

#include <cstdint>
#include <string>

#include "reference/models/models.h"
#include "reference/optimization/optimizers.h"

namespace dlcheck::reference {

// In torch's archive format: `model`, `optimizer` (moments by parameter), `steps`. Whole or not at
// all: written beside `path` and renamed. Errors: std::runtime_error, c10::Error.
void SaveState(const std::string& path, const Model& model, const Optimizer& optimizer,
               int64_t steps);

}  // namespace dlcheck::reference

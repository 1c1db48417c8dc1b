// Weights alone as a safetensors file with the names that the model has, so that a program in
// Python with a model of the same shape begins, or goes on, with the same weights.
#pragma once

#include <string>

#include "reference/training/training.h"

namespace dlcheck::reference {

// Writes the parameters and buffers that evaluations use: averages where there are any. A tensor
// that stands under two names is written under both. All ranks call; the first one writes.
//
// Errors: SavingFailed.
void ExportWeights(Training& training, const std::string& path);

// Copies the tensors of such a file into the model, in its own types. Of a tensor that stands under
// two names one is enough.
//
// Errors: InputRejected for a file that is none, for a tensor that the model has and the file has
//         not, for one that the model does not know, and for another shape.
void InitializeFrom(torch::nn::Module& module, const std::string& path);

}  // namespace dlcheck::reference

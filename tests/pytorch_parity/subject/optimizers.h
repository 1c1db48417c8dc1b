// The optimizer of a case, shared by the subjects that step one.
#pragma once

#include <string>
#include <vector>

#include "reference/optimization/optimizers.h"
#include "tests/pytorch_parity/subject/subject.h"

namespace dlcheck::reference {

// `deviation` is the parameter that names the optimizer's deviation.
Optimizer::Options OptimizerOptions(const Case& run, const std::string& deviation);
std::vector<Optimizer::Group> TwoGroups(const Case& run);
// `gradients` (steps, ...) by the names of the parameters.
void SetGradients(Optimizer& optimizer, const Case::Tensors& gradients, int64_t step, double scale);
void PutWeightsAndState(Optimizer& optimizer, Case& run);

}  // namespace dlcheck::reference

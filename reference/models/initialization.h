// How the weights of a model begin, by name. Every rule draws from the default generator, module by
// module in the order in which they were registered, as torch.nn.init in a loop over
// model.modules() does.
#pragma once

#include <string>
#include <vector>

#include "reference/models/models.h"

namespace dlcheck::reference {

// default     as each module's constructor leaves it
// xavier      linear and convolution weights by Glorot and Bengio 2010, uniform; biases zero
// kaiming     the same weights by He et al. 2015, normal, fan-in, gain of a ReLU; biases zero
// gpt2        linear and embedding weights normal with deviation 0.02, those of layers named
//             `projection` divided by sqrt(2 blocks); biases zero (Radford et al. 2019)
// zeros-head  as default, with a head of zeros: every class is equally likely at first
const std::vector<std::string>& Initializations();

// Errors: UsageError for a name that is not known, and for zeros-head where head and embedding are
// one.
void Initialize(Model& model, const std::string& rule);

// Branches of residual and transformer blocks begin as zeros, so that each block begins as the
// identity: the weight of the last norm of a residual block (Goyal et al. 2017), and the
// projections of a transformer's block.
void ZeroBranches(Model& model);

}  // namespace dlcheck::reference

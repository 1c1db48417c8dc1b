// Hosts a user's model from a shared library made with DLCHECK_MODEL. Compares versions before any
// code of the model runs, and tries it on a tiny batch before it is trusted.
#pragma once

#include <cstdint>
#include <string>

#include "dlcheck/plugin.h"
#include "reference/models/models.h"

namespace dlcheck::reference {

// The library stays loaded until the process ends.
//
// Errors: InputRejected: no shared library or one that cannot be loaded; not made with
// DLCHECK_MODEL; made
//         for another LibTorch, C++ ABI or plugin interface; its constructor or a forward pass of 2
//         samples failed; outputs that are not (2, classes).
Model HostModel(const std::string& path, const InputShape& sample_shape, int64_t classes);

}  // namespace dlcheck::reference

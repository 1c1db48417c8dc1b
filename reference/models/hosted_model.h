// Hosts a user's model from a shared library made with DLCHECK_MODEL, or from a TorchScript file.
// Compares versions before any code of a library runs, and tries the model on a tiny batch before
// it is trusted.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "dlcheck/plugin.h"
#include "reference/models/models.h"

namespace dlcheck::reference {

// Told what of the model is about to run, such as "its constructor".
using Stage = std::function<void(const char* what)>;

// A library stays loaded until the process ends. What its forward pass throws later names it.
//
// Errors: InputRejected: no shared library or one that cannot be loaded; not made with
//         DLCHECK_MODEL; made for another LibTorch, C++ ABI or plugin interface; its constructor or
//         a forward pass of 2 samples failed; outputs that are not (2, classes). Or a TorchScript
//         file that is damaged or has nothing to train.
Model HostModel(
    const std::string& path, const InputShape& sample_shape, int64_t classes,
    const Stage& stage = [](const char*) {});

}  // namespace dlcheck::reference

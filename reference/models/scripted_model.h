// Hosts a TorchScript file, which torch.jit.save wrote: a legacy format, read for those who have
// their models in it. Its modules, parameters and buffers keep their names and can be trained.
#pragma once

#include <string>

#include "reference/models/models.h"

namespace dlcheck::reference {

// True for an archive, whatever it is called, and for what is called like a TorchScript file.
bool IsTorchScript(const std::string& path);

// Errors: InputRejected: no TorchScript file, a damaged one, or one without parameters.
Model LoadTorchScript(const std::string& path);

}  // namespace dlcheck::reference

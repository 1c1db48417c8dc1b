// The most memory that this process ever held.
#pragma once

#include <torch/torch.h>

#include <cstdint>

namespace dlcheck::reference {

// Bytes: of tensors on an accelerator, else resident ones of the process. No wait for the device.
int64_t PeakMemory(const at::Device& device);

}  // namespace dlcheck::reference

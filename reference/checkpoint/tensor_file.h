// Named tensors as the bytes of a safetensors file, which Python reads with the package of that
// name: 8 bytes of length, a JSON header, then the raw elements, little-endian.
// Source: https://github.com/huggingface/safetensors, section "Format".
#pragma once

#include <torch/torch.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dlcheck::reference {

using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

// Tensors on any device, in the order given. Cost: one copy of all of them.
std::string TensorFileBytes(const NamedTensors& tensors);

// What such bytes hold: copies, on the CPU. `path` is for messages. Every length, offset and type
// is checked against the bytes before it is used. Errors: InputRejected.
std::map<std::string, torch::Tensor> TensorsOf(const std::string& path, std::string_view bytes);

}  // namespace dlcheck::reference

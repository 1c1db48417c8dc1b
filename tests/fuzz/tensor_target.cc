// Named tensors: the weights of a checkpoint.
#include "reference/checkpoint/tensor_file.h"
#include "reference/recipe/rejection.h"
#include "tests/fuzz/promises.h"
#include "tests/fuzz/targets.h"

namespace dlcheck::fuzz {

void ReadTensorFile(std::string_view bytes) {
  try {
    const auto tensors = reference::TensorsOf("weights.safetensors", bytes);
    size_t held = 0;
    for (const auto& [name, tensor] : tensors) held += tensor.nbytes();
    Require(held <= bytes.size(), "no tensor holds more than the file");
  } catch (const reference::InputRejected&) {
    // refused: as it should be
  }
}

}  // namespace dlcheck::fuzz

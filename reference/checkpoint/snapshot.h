// The whole state of a run as named tensors, and back: each part under its name.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "reference/checkpoint/state.h"
#include "reference/checkpoint/tensor_file.h"

namespace dlcheck::reference {

struct StatePart {
  std::string name;
  std::function<void(const VisitTensor&)> visit;
  bool differs_by_rank = false;
};

// Every tensor of every part as "part/name"; not copied.
NamedTensors StateOf(const std::vector<StatePart>& parts);

// Writes the tensors of a file into the parts, in their order. A tensor without elements, such as
// a table that has no row yet, takes the shape that the file has. `path` is for messages.
// Errors: InputRejected for a tensor that is missing, of another shape or type, or of no part; the
// parts are then of no use any more.
void Restore(const std::string& path, const std::map<std::string, torch::Tensor>& state,
             const std::vector<StatePart>& parts);

}  // namespace dlcheck::reference

// Calls of dropout functions that dropped values in evaluation mode, as the program made them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct EvaluationDropout {
  static constexpr std::string_view kName = "dropout in evaluation mode";
  struct Model {
    std::string name;
    int64_t calls = 0;  // at least; counted at powers of two
    double probability = 0;
    int64_t step = 0;  // of the first call
    NamedSite site;    // of the first call; line 0 if not known
  };
  std::vector<Model> models;  // with such calls
  int64_t evaluated = 0;      // batches that were evaluated

  // Of the first process only. Never an error.
  static absl::StatusOr<EvaluationDropout> From(const Run& run);
};

}  // namespace dlcheck

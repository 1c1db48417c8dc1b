// Checkpoints: the state in memory as each was written, compared with the content of its file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct Saves {
  static constexpr std::string_view kName = "saves";
  struct Save {
    int64_t step = 0;
    int64_t parts = 0;                 // in memory
    std::vector<std::string> changed;  // other bits in the file
    std::vector<std::string> missing;  // not in the file
  };
  std::vector<Save> saves;  // those of which something was read back

  // Errors: NotFound if none was read back.
  static absl::StatusOr<Saves> From(const Run& run);
};

}  // namespace dlcheck

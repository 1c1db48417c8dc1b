// What a program did with the axes of its tensors, as the graphs of its first backward calls tell
// it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct AxisChanges {
  static constexpr std::string_view kName = "changes of axes";
  struct Change {
    std::string sizes;  // "8x10x32 to 8x32x10"; empty for a softmax
    int axis = 0;       // of a softmax, counted from the end
    int64_t step = 0;
    NamedSite site;  // line 0 if not known
  };
  std::vector<Change> reshapes;   // views and reshapes that swap the sizes of axes
  std::vector<Change> softmaxes;  // of attention, along another axis than its product sums over
  int64_t backwards = 0;          // calls of backward in sampled steps

  // Of the first process only. Errors: NotFound if it is not Python, or called no backward.
  static absl::StatusOr<AxisChanges> From(const Run& run);
};

}  // namespace dlcheck

// Records of a run that are damaged or missing.
#pragma once

#include <string>
#include <vector>

namespace dlcheck {

// A line each; both empty where the records are whole.
struct Losses {
  std::vector<std::string> damaged;  // not as it was written, or of another run
  std::vector<std::string> missing;  // never written

  bool empty() const { return damaged.empty() && missing.empty(); }
};

}  // namespace dlcheck

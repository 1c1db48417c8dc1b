// Records of a run that are damaged or missing.
#pragma once

#include <string>
#include <vector>

namespace dlcheck {

// A line each; both empty where the records are whole.
struct Losses {
  std::vector<std::string> damaged;  // not as it was written, or of another run
  std::vector<std::string> missing;  // never written
  bool cut = false;  // the records of some process have no end, as of one that was killed

  bool empty() const { return damaged.empty() && missing.empty(); }
};

}  // namespace dlcheck

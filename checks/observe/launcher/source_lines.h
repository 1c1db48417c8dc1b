// Files and lines of the calls that the preloaded probe saw by address: see call_sites.h.
#pragma once

#include <string>

namespace dlcheck {

// Looks up all such sites that the records of a run name, with addr2line of binutils or LLVM, and
// writes the file `lines` (see names.h). Nothing where there is none, or no such program. Cost:
// about a second a hundred megabytes of debug information.
void WriteSourceLines(const std::string& run_folder);

}  // namespace dlcheck

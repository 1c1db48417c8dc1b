// What `dlcheck run` preloads into a C++ program, so that it is watched without a change.
#pragma once

#include <string>

#include "diagnostics/cli/commands.h"

namespace dlcheck::cli {

struct Preload {
  std::string gate;     // the library; empty: nothing is preloaded
  std::string workers;  // folders with a probe for each LibTorch, with colons between
  std::string torch;    // the LibTorch of the command; empty: it is linked with none
};

// The probe for the LibTorch with this build id; empty if there is none.
std::string WorkerFor(const std::string& id);

// For a command as a user gave it. A LibTorch for which there is no probe gives a path in `torch`
// and no gate. Cost: some 30 ms for a program, nothing for a script.
Preload PreloadFor(const Words& command);

// Where a user's own probes lie: ~/.cache/dlcheck/preload, or below XDG_CACHE_HOME; empty if there
// is no home.
std::string WorkerCache();

}  // namespace dlcheck::cli

// A user's model is loaded, made and called once in a process of its own, before this one has
// anything to do with it: what aborts, hangs or takes all memory there becomes one line that names
// the file. The process is this program again, called with the words that `Preflight` reads.
#pragma once

#include <optional>
#include <string>

#include "dlcheck/plugin.h"
#include "reference/recipe/recipe.h"

namespace dlcheck::reference {

// Runs /proc/self/exe, which has to begin with Preflight, and waits for it. On SIGTERM it is ended,
// and the model refused; on SIGINT it is ended, and this process too, by the same signal.
// Errors: InputRejected: what HostModel refuses; or the process was ended by a signal, ended itself
//         or had not come back at SIGTERM, with what ran then.
void PreflightInChild(const Recipe& recipe, const InputShape& sample_shape, int64_t classes);

// If the words ask for a preflight: does it, and returns the exit status.
std::optional<int> Preflight(int count, const char* const* arguments);

}  // namespace dlcheck::reference

// Commands that are started for what they write to files: they read nothing and say nothing.
#pragma once

#include "absl/status/statusor.h"
#include "diagnostics/cli/commands.h"

namespace dlcheck::cli {

// Waits for a command and gives its exit status; 128 and more where a signal ended it. Errors:
// Unavailable where it cannot be started.
absl::StatusOr<int> RunQuietly(Words command);

}  // namespace dlcheck::cli

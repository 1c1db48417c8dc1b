// Commands that are started for what they write to files.
#pragma once

#include "absl/status/statusor.h"
#include "diagnostics/cli/commands.h"

namespace dlcheck::cli {

// Waits for a command, which reads nothing and says nothing, and gives its exit status; 128 and
// more where a signal ended it. Errors: Unavailable where it cannot be started.
absl::StatusOr<int> RunQuietly(Words command);

// The same of a command that has the streams of this process, and the signals that it is sent.
absl::StatusOr<int> RunAloud(Words command);

}  // namespace dlcheck::cli

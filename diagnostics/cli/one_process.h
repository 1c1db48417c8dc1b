// A command that starts several processes, as one that starts a single one.
#pragma once

#include "absl/status/statusor.h"
#include "diagnostics/cli/commands.h"

namespace dlcheck::cli {

// The same command with the number of processes replaced by one, as torchrun,
// torch.distributed.run, accelerate and deepspeed take it: in an option that stands before the
// program's own. Errors: FailedPrecondition without such an option.
absl::StatusOr<Words> WithOneProcess(const Words& command);

}  // namespace dlcheck::cli

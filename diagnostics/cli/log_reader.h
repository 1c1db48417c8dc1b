// Logs of other tools, for `dlcheck judge`: found in a folder, and parsed in a process of its own.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "diagnostics/cli/commands.h"
#include "diagnostics/logs/log.h"

namespace dlcheck::cli {

// The word that starts the process; no command of the user's.
inline constexpr char kReadLogCommand[] = "__read-log";

// Files that make up the log at `path`: itself, or those of a folder of Lightning, transformers,
// TensorBoard or W&B. Errors: NotFound where there is none, InvalidArgument where there are
// several.
absl::StatusOr<std::vector<std::string>> LogFilesAt(const std::string& path);

// Reads a log. Errors: InvalidArgument with the file and the cause.
absl::StatusOr<Log> LogAt(const std::string& path);

// The process: reads a file, and writes what it holds to another one. Its memory and its time are
// bounded.
int ReadLogMain(const Words& words);

}  // namespace dlcheck::cli

// `dlcheck-train --baseline FILE`: how a program's training compares with plain ones on its own
// batches, or what plain ones learn from a data file.
#pragma once

#include <cstdint>
#include <string>

namespace dlcheck::reference {

// Trains the baselines of a capture, or of `steps` steps on a data file. Prints a table and the
// verdict, and writes both to `json`, if it is not empty. The exit status: 0 if the program learns,
// and as much as the plainest baseline, or if a model learns from the data, else 1.
//
// Errors: InputRejected as ReadCapture's and LoadDataset's, UsageError if `json` cannot be written.
int RunBaseline(const std::string& path, int64_t steps, const std::string& json);

}  // namespace dlcheck::reference

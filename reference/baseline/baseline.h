// `dlcheck-train --baseline FILE`: how a program's training compares with plain ones on its own
// batches.
#pragma once

#include <string>

namespace dlcheck::reference {

// Trains the opponents of a capture, prints a table and the verdict, and writes both to `json`, if
// it is not empty. The exit status: 1 if the program learns nothing or less than the plainest
// rival, else 0.
//
// Errors: InputRejected as ReadCapture's, UsageError if `json` cannot be written.
int RunBaseline(const std::string& capture, const std::string& json);

}  // namespace dlcheck::reference

// `dlcheck-train --baseline FILE`: how a program's training compares with plain ones on its own
// batches.
#pragma once

#include <string>

namespace dlcheck::reference {

// Trains the opponents of a capture, prints a table and the verdict, and writes both to `json`, if
// it is not empty. The exit status: 0 if the program learns, and as much as the plainest rival,
// else 1.
//
// Errors: InputRejected as ReadCapture's, UsageError if `json` cannot be written.
int RunBaseline(const std::string& capture, const std::string& json);

}  // namespace dlcheck::reference

// What tells one file of data from another.
#pragma once

#include <string>

namespace dlcheck::reference {

// Size and SHA-256, of a large file of its two ends: enough to see that it is another. Errors:
// InputRejected.
std::string DigestOfFile(const std::string& path);

}  // namespace dlcheck::reference

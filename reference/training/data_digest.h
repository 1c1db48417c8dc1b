// What tells one file of data from another.
#pragma once

#include <string>

namespace dlcheck::reference {

// Size and SHA-256. Of a file above 64 MiB, 64 pieces of 1 MiB each are read, at even distances
// from its first byte to its last: enough to see that it is another. Errors: InputRejected.
std::string DigestOfFile(const std::string& path);

}  // namespace dlcheck::reference

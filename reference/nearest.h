// The known name that a mistyped one most likely means. For messages alone.
#pragma once

#include <string>
#include <vector>

namespace dlcheck::reference {

// Such as "; did you mean 'steps'?"; empty if nothing is near.
// Cost: one edit distance a known name.
std::string NearestName(const std::string& typed, const std::vector<std::string>& known);

}  // namespace dlcheck::reference

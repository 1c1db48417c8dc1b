// What stands first in the file of names.
#pragma once

#include <string>

namespace dlcheck {

// Lines that say who writes, in which run, and which number each event and quantity has.
std::string Preamble(const std::string& writer, const std::string& run);

}  // namespace dlcheck

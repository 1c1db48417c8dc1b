// How many seeds an answer of a search rests on.
#pragma once

#include <cstdint>

namespace dlcheck::reference {

inline constexpr int64_t kSeeds = 3;

}  // namespace dlcheck::reference

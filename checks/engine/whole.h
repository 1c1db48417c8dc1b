// Integers from the doubles of records. A record can hold any double, and converting one that fits
// no integer is undefined.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>

namespace dlcheck {

// `number` without its fraction; at most 2^53 either way, and 0 for NaN.
template <std::floating_point Number>
int64_t Whole(Number number) {
  constexpr Number kMost = Number{int64_t{1} << 53};
  return number == number ? static_cast<int64_t>(std::clamp(number, -kMost, kMost)) : 0;
}

}  // namespace dlcheck

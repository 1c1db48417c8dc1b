// Text from parts. The packaged Abseil is built with a string_view of its own, which absl::StrCat
// wants; this hands it std::string_view too.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace dlcheck {

template <typename Part>
decltype(auto) ForAbseil(const Part& part) {
  if constexpr (std::is_same_v<Part, std::string_view>) {
    return absl::string_view(part.data(), part.size());
  } else {
    return (part);
  }
}

// Numbers are printed with six significant digits.
template <typename... Parts>
std::string StrCat(const Parts&... parts) {
  return absl::StrCat(ForAbseil(parts)...);
}

template <typename... Parts>
void StrAppend(std::string* text, const Parts&... parts) {
  absl::StrAppend(text, ForAbseil(parts)...);
}

// "1 step", "3 steps", "1,407 steps": a count with its noun, thousands parted by commas.
std::string Counted(int64_t count, std::string_view noun);
std::string WithCommas(int64_t count);

// Three significant digits: "0.0123", "2.3e-09".
std::string Short(double number);

// Both with as many significant digits, at least three, as tell them apart.
std::pair<std::string, std::string> ShortApart(double one, double other);

// At most `most` of the names, then how many more: "a, b and 3 more".
std::string Listed(const std::vector<std::string>& names, size_t most = 3);

}  // namespace dlcheck

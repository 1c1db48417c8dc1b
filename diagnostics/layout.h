// Text in columns for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace dlcheck {

inline constexpr size_t kColumns = 100;

// Breaks `text` between words so that no line is longer than kColumns; each line after the first
// starts with `indent` spaces, and the first is taken to stand behind `indent` columns already.
std::string Wrap(std::string_view text, size_t indent);

// `left`, spaces, `right` at the right margin; on one line if it fits.
std::string Spread(std::string_view left, std::string_view right);

}  // namespace dlcheck

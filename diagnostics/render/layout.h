// Text in columns for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace dlcheck {

inline constexpr size_t kColumns = 100;

// Columns before the text of a row.
inline constexpr size_t kIndent = 9;

// All of these show strangers' characters as checks/records/visible.h does.

// Breaks `text` between words so that no line is longer than kColumns; each line after the first
// starts with `indent` spaces, and the first is taken to stand behind `indent` columns already.
std::string Wrap(std::string_view text, size_t indent);

// `left`, spaces, `right` at the right margin; on one line if it fits.
std::string Spread(std::string_view left, std::string_view right);

// `label`, then `text` behind kIndent columns, wrapped, with a line break.
std::string Row(std::string_view label, std::string_view text);

}  // namespace dlcheck

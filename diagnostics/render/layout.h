// Text in columns for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace dlcheck {

// Of a line, where no terminal is narrower.
inline constexpr size_t kColumns = 100;

// While one of these lives, lines are as long as it says. Not for several threads at once.
class LineLength {
 public:
  explicit LineLength(size_t columns);
  ~LineLength();
  LineLength(const LineLength&) = delete;
  LineLength& operator=(const LineLength&) = delete;

 private:
  size_t before_;
};

// Columns before the text of a row.
inline constexpr size_t kIndent = 9;

// All of these show strangers' characters as checks/records/visible.h does.

// Breaks `text` between words so that no line is longer than it may be; each line after the first
// starts with `indent` spaces, and the first is taken to stand behind `indent` columns already.
std::string Wrap(std::string_view text, size_t indent);

// `left`, spaces, `right` at the right margin; if both do not fit in a line, `left` is wrapped
// behind kIndent columns, and `right` stands in a line of its own.
std::string Spread(std::string_view left, std::string_view right);

// `label`, then `text` behind kIndent columns, wrapped, with a line break.
std::string Row(std::string_view label, std::string_view text);

}  // namespace dlcheck

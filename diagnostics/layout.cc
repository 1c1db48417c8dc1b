#include "diagnostics/layout.h"

#include "absl/strings/str_split.h"

namespace dlcheck {

std::string Wrap(std::string_view text, size_t indent) {
  std::string out;
  size_t column = indent;
  const std::string source(text);
  for (const absl::string_view word : absl::StrSplit(source, ' ', absl::SkipEmpty())) {
    if (column > indent && column + 1 + word.size() > kColumns) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    }
    if (column > indent) {
      out += ' ';
      ++column;
    }
    out.append(word.data(), word.size());
    column += word.size();
  }
  return out;
}

std::string Spread(std::string_view left, std::string_view right) {
  std::string line(left);
  if (right.empty()) return line;
  const size_t used = line.size() + right.size();
  line.append(used + 2 <= kColumns ? kColumns - used : 2, ' ');
  line.append(right);
  return line;
}

}  // namespace dlcheck

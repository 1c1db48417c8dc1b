#include "diagnostics/render/layout.h"

#include <algorithm>

#include "absl/strings/str_split.h"
#include "checks/records/visible.h"

namespace dlcheck {

namespace {

// Characters, of which each is taken for one column wide.
size_t ColumnsOf(absl::string_view word) {
  return static_cast<size_t>(
      std::ranges::count_if(word, [](unsigned char byte) { return (byte & 0xC0) != 0x80; }));
}

}  // namespace

std::string Wrap(std::string_view text, size_t indent) {
  std::string out;
  size_t column = indent;
  const std::string source = Visible(text);
  for (const absl::string_view word : absl::StrSplit(source, ' ', absl::SkipEmpty())) {
    if (column > indent && column + 1 + ColumnsOf(word) > kColumns) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    }
    if (column > indent) {
      out += ' ';
      ++column;
    }
    out.append(word.data(), word.size());
    column += ColumnsOf(word);
  }
  return out;
}

std::string Spread(std::string_view left, std::string_view right) {
  std::string line = Visible(left);
  if (right.empty()) return line;
  const std::string end = Visible(right);
  const size_t used = line.size() + end.size();
  line.append(used + 2 <= kColumns ? kColumns - used : 2, ' ');
  return line + end;
}

std::string Row(std::string_view label, std::string_view text) {
  std::string line = Visible(label);
  line.resize(std::max(kIndent, line.size() + 1), ' ');
  return line + Wrap(text, kIndent) + "\n";
}

}  // namespace dlcheck

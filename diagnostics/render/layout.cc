#include "diagnostics/render/layout.h"

#include <algorithm>

#include "absl/strings/str_split.h"
#include "checks/records/visible.h"

namespace dlcheck {

namespace {

size_t longest = kColumns;  // a line

// Characters, of which each is taken for one column wide.
size_t ColumnsOf(absl::string_view word) {
  return static_cast<size_t>(
      std::ranges::count_if(word, [](unsigned char byte) { return (byte & 0xC0) != 0x80; }));
}

}  // namespace

LineLength::LineLength(size_t columns) : before_(longest) { longest = columns; }
LineLength::~LineLength() { longest = before_; }

std::string Wrap(std::string_view text, size_t indent) {
  std::string out;
  size_t column = indent;
  const std::string source = Visible(text);
  for (const absl::string_view word : absl::StrSplit(source, ' ', absl::SkipEmpty())) {
    if (column > indent && column + 1 + ColumnsOf(word) > longest) {
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
  const std::string end = Visible(right);
  const size_t used = ColumnsOf(line) + ColumnsOf(end);
  if (right.empty()) return line;
  if (used + 2 <= longest) return line + std::string(longest - used, ' ') + end;
  line = Visible(left.substr(0, kIndent));
  const std::string rest = Wrap(left.substr(std::min(left.size(), kIndent)), kIndent);
  return line + rest + "\n" + std::string(kIndent, ' ') + end;
}

std::string Row(std::string_view label, std::string_view text) {
  std::string line = Visible(label);
  line.resize(std::max(kIndent, line.size() + 1), ' ');
  return line + Wrap(text, kIndent) + "\n";
}

}  // namespace dlcheck

#include "diagnostics/render/colored.h"

#include <algorithm>

#include "absl/strings/str_split.h"
#include "checks/engine/text.h"
#include "diagnostics/render/layout.h"

namespace dlcheck {
namespace {

constexpr std::string_view kEnd = "\033[0m", kBold = "\033[1m", kDim = "\033[2m";

// Of the word that begins a line; empty where it has none.
std::string_view ColorOf(std::string_view label) {
  constexpr std::pair<std::string_view, std::string_view> kColors[] = {{"error", "\033[1;31m"},
                                                                       {"warning", "\033[1;33m"},
                                                                       {"note", "\033[1;36m"},
                                                                       {"dlcheck", kBold}};
  for (const auto& [word, color] : kColors) {
    if (label == word) return color;
  }
  return label.empty() ? "" : kDim;
}

std::string ColoredLine(std::string_view line) {
  const std::string_view before = line.substr(0, kIndent);
  const size_t begin = before.find_first_not_of(' ');
  const size_t last = before.find_last_not_of(' ');
  // A label ends before the text does; where it fills all columns it is no label.
  if (begin == std::string_view::npos || last + 1 >= kIndent) return std::string(line);
  const std::string_view label = line.substr(begin, last + 1 - begin);
  const std::string_view color = ColorOf(label);
  const std::string head = StrCat(line.substr(0, begin), color, label, kEnd);
  std::string_view rest = line.substr(last + 1);
  if (color == kDim || color == kBold) return StrCat(head, rest);
  const size_t id = rest.find_first_not_of(' ');
  if (id == std::string_view::npos) return StrCat(head, rest);
  const size_t end = std::min(rest.size(), rest.find(' ', id));
  return StrCat(head, rest.substr(0, id), kBold, rest.substr(id, end - id), kEnd, rest.substr(end));
}

}  // namespace

std::string Colored(std::string_view text) {
  std::string colored;
  while (!text.empty()) {
    const size_t end = std::min(text.size(), text.find('\n'));
    colored += ColoredLine(text.substr(0, end));
    if (end < text.size()) colored += '\n';
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return colored;
}

}  // namespace dlcheck

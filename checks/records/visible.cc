#include "checks/records/visible.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

#include "checks/records/utf8.h"

namespace dlcheck {
namespace {

struct Range {
  uint32_t first;
  uint32_t last;
};

// Source: Unicode 15, general categories Cc, Cf, Zl and Zp, as far as they act on the order or the
// presence of what is shown; noncharacters and tags.
constexpr std::array<Range, 13> kHidden{{{0x00, 0x1F},
                                         {0x7F, 0x9F},
                                         {0xAD, 0xAD},
                                         {0x61C, 0x61C},
                                         {0x180E, 0x180E},
                                         {0x200B, 0x200F},
                                         {0x2028, 0x202E},
                                         {0x2060, 0x206F},
                                         {0xFE00, 0xFE0F},
                                         {0xFEFF, 0xFEFF},
                                         {0xFFF0, 0xFFFB},
                                         {0xFFFE, 0xFFFF},
                                         {0xE0000, 0xE0FFF}}};

bool IsHidden(uint32_t code) {
  return std::any_of(kHidden.begin(), kHidden.end(), [code](const Range& range) {
    return range.first <= code && code <= range.last;
  });
}

std::string Escape(const char* format, uint32_t code) {
  std::array<char, 16> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, code);
  return buffer.data();
}

std::string EscapeOf(uint32_t code) {
  if (code == '\n') return "\\n";
  if (code == '\r') return "\\r";
  if (code == '\t') return "\\t";
  if (code <= 0xFF) return Escape("\\x%02x", code);
  return Escape(code <= 0xFFFF ? "\\u%04x" : "\\U%08x", code);
}

// True where continuous integration may read a command: "::" at the beginning of a word, "##[".
bool IsCommand(const std::string& shown, std::string_view rest) {
  const bool begins_word = shown.empty() || shown.back() == ' ';
  if (begins_word && rest.substr(0, 2) == "::") return true;
  const size_t size = shown.size();
  return rest[0] == '[' && size >= 2 && shown.compare(size - 2, 2, "##") == 0;
}

}  // namespace

std::string Visible(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (const std::optional<Character> next = FirstCharacter(text)) {
    const auto [code, bytes] = *next;
    const auto byte = static_cast<unsigned char>(text[0]);
    if (code == 0) {
      shown += Escape("\\x%02x", byte);  // no UTF-8, or the byte 0
    } else if (IsHidden(code) || IsCommand(shown, text)) {
      shown += EscapeOf(code);
    } else {
      shown += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return shown;
}

}  // namespace dlcheck

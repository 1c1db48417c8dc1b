#include "checks/records/utf8.h"

namespace dlcheck {
namespace {

// How many bytes a sequence that begins with `first` has, or 0 if none does.
size_t LengthOf(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  return first >= 0xF0 && first <= 0xF4 ? 4 : 0;
}

// The character at the start of `text`, of `length` bytes; 0 if they are none.
uint32_t CodeOf(std::string_view text, size_t length) {
  if (length == 0 || text.size() < length) return 0;
  const auto first = static_cast<unsigned char>(text[0]);
  uint32_t code = length == 1 ? first : first & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0) != 0x80) return 0;
    code = code << 6 | (next & 0x3F);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < kLeast[length] || code > 0x10FFFF || is_surrogate ? 0 : code;
}

}  // namespace

std::optional<Character> FirstCharacter(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const size_t length = LengthOf(static_cast<unsigned char>(text[0]));
  const uint32_t code = CodeOf(text, length);
  return Character{code, code == 0 ? 1 : length};
}

}  // namespace dlcheck

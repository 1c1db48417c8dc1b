#include "diagnostics/utf8.h"

#include <cstdint>

namespace dlcheck {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// How many bytes a sequence that begins with `first` has, or 0 if none does.
size_t LengthOf(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  return first >= 0xF0 && first <= 0xF4 ? 4 : 0;
}

// The character at the start of `text`, of `length` bytes; 0 if they are none.
uint32_t CharacterOf(std::string_view text, size_t length) {
  if (length == 0 || text.size() < length) return 0;
  const auto first = static_cast<unsigned char>(text[0]);
  uint32_t character = length == 1 ? first : first & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0) != 0x80) return 0;
    character = character << 6 | (next & 0x3F);
  }
  const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  return character < least[length] ? 0 : character;
}

// Source: XML 1.0, production Char.
bool AllowedInXml(uint32_t character) {
  if (character < 0x20) return character == '\t' || character == '\n' || character == '\r';
  if (character >= 0xD800 && character <= 0xDFFF) return false;
  return character != 0xFFFE && character != 0xFFFF && character <= 0x10FFFF;
}

}  // namespace

std::string XmlText(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const size_t length = LengthOf(static_cast<unsigned char>(text[0]));
    const uint32_t character = CharacterOf(text, length);
    const bool fits = character != 0 && AllowedInXml(character);
    clean += fits ? text.substr(0, length) : kReplacement;
    // After a byte that begins nothing, the next may begin something again.
    text.remove_prefix(character != 0 ? length : 1);
  }
  return clean;
}

}  // namespace dlcheck

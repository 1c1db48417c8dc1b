#include "diagnostics/render/xml_text.h"

#include <cstdint>

#include "checks/records/utf8.h"

namespace dlcheck {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Source: XML 1.0, production Char.
bool AllowedInXml(uint32_t code) {
  if (code < 0x20) return code == '\t' || code == '\n' || code == '\r';
  return code != 0xFFFE && code != 0xFFFF;
}

}  // namespace

std::string XmlText(std::string_view text) {
  std::string clean;
  while (const std::optional<Character> next = FirstCharacter(text)) {
    clean += AllowedInXml(next->code) ? text.substr(0, next->bytes) : kReplacement;
    text.remove_prefix(next->bytes);
  }
  return clean;
}

}  // namespace dlcheck

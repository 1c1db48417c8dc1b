// Characters of UTF-8 text that may not be UTF-8 everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace dlcheck {

struct Character {
  uint32_t code;  // 0 where the bytes are no UTF-8
  size_t bytes;   // 1 there: the next byte may begin a character again
};

// The first character of `text`; none of an empty text. Overlong forms are not UTF-8.
std::optional<Character> FirstCharacter(std::string_view text);

}  // namespace dlcheck

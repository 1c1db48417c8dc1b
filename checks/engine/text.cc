#include "checks/engine/text.h"

#include <cstdlib>

namespace dlcheck {

std::string WithCommas(int64_t count) {
  std::string digits = std::to_string(std::llabs(count));
  for (int64_t at = static_cast<int64_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<size_t>(at), ",");
  }
  return count < 0 ? "-" + digits : digits;
}

std::string Counted(int64_t count, std::string_view noun) {
  return StrCat(WithCommas(count), " ", noun, count == 1 ? "" : "s");
}

}  // namespace dlcheck

#include "checks/engine/text.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_format.h"

namespace dlcheck {

std::string WithCommas(int64_t count) {
  std::string digits = std::to_string(std::llabs(count));
  for (int64_t at = static_cast<int64_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<size_t>(at), 1, ',');
  }
  return count < 0 ? "-" + digits : digits;
}

std::string Counted(int64_t count, std::string_view noun) {
  return StrCat(WithCommas(count), " ", noun, count == 1 ? "" : "s");
}

std::string Short(double number) { return absl::StrFormat("%.3g", number); }

std::pair<std::string, std::string> ShortApart(double one, double other) {
  constexpr int kFewest = 3, kMost = 17;
  if (one == other) return {Short(one), Short(other)};
  std::pair<std::string, std::string> texts;
  for (int digits = kFewest; digits <= kMost; ++digits) {
    texts = {absl::StrFormat("%.*g", digits, one), absl::StrFormat("%.*g", digits, other)};
    if (texts.first != texts.second) break;
  }
  return texts;
}

std::string Listed(const std::vector<std::string>& names, size_t most) {
  std::string text;
  const size_t shown = std::min(most, names.size());
  for (size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == names.size();
    StrAppend(&text, i == 0 ? "" : (last ? " and " : ", "), names[i]);
  }
  if (names.size() > shown) StrAppend(&text, " and ", names.size() - shown, " more");
  return text;
}

}  // namespace dlcheck

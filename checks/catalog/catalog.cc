#include "checks/catalog/catalog.h"

#include <algorithm>
#include <numeric>

#include "checks/engine/text.h"

namespace dlcheck {

#define DLCHECK_CHECK(area, function, id) \
  namespace area {                        \
  Check function();                       \
  }
#include "checks/catalog/catalog.def"
#undef DLCHECK_CHECK

namespace {

bool Matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') {
    return Matches(pattern.substr(1), text) || (!text.empty() && Matches(pattern, text.substr(1)));
  }
  return !text.empty() && (pattern[0] == '?' || pattern[0] == text[0]) &&
         Matches(pattern.substr(1), text.substr(1));
}

bool Selects(const std::string& pattern, const Check& check) {
  return Matches(pattern, check.id) || Matches(pattern, AreaOf(check.id));
}

absl::Status MatchesSomething(const std::string& pattern) {
  std::vector<std::string> names;
  for (const Check& check : Catalog()) {
    if (Selects(pattern, check)) return absl::OkStatus();
    names.emplace_back(check.id);
    names.emplace_back(AreaOf(check.id));
  }
  const std::string nearest = Nearest(pattern, names);
  return absl::InvalidArgumentError(
      StrCat("no check is named '", pattern, "'",
             nearest.empty() ? std::string() : StrCat("; did you mean '", nearest, "'?")));
}

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::span<const Check> Catalog() {
  static const std::vector<Check>& checks = *new std::vector<Check>{
#define DLCHECK_CHECK(area, function, id) area::function(),
#include "checks/catalog/catalog.def"
#undef DLCHECK_CHECK
  };
  return checks;
}

const Check* FindCheck(std::string_view id) {
  for (const Check& check : Catalog()) {
    if (check.id == id) return &check;
  }
  return nullptr;
}

absl::StatusOr<std::vector<const Check*>> SelectChecks(const std::vector<std::string>& select,
                                                       const std::vector<std::string>& ignore) {
  for (const auto* patterns : {&select, &ignore}) {
    for (const std::string& pattern : *patterns) {
      if (absl::Status status = MatchesSomething(pattern); !status.ok()) return status;
    }
  }
  std::vector<const Check*> selected;
  for (const Check& check : Catalog()) {
    const auto matches = [&](const std::string& pattern) { return Selects(pattern, check); };
    if (!select.empty() && std::none_of(select.begin(), select.end(), matches)) continue;
    if (std::any_of(ignore.begin(), ignore.end(), matches)) continue;
    selected.push_back(&check);
  }
  return selected;
}

std::string Nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string nearest;
  size_t best = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = EditDistance(word, candidate);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace dlcheck

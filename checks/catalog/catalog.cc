#include "checks/catalog/catalog.h"

#include <algorithm>

#include "checks/engine/text.h"
#include "checks/records/nearest.h"

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
  return absl::InvalidArgumentError(
      StrCat("no check is named '", pattern, "'", DidYouMean(pattern, names)));
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

}  // namespace dlcheck

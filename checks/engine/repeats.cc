#include "checks/engine/repeats.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include "checks/engine/text.h"

namespace dlcheck {
namespace {

std::string WithoutNumbers(const std::string& message) {
  std::string words;
  for (const char letter : message) {
    const bool is_of_number = std::isdigit(static_cast<unsigned char>(letter)) != 0;
    if (!is_of_number && letter != '.' && letter != ',') words += letter;
  }
  return words;
}

bool NamesALine(const Finding& finding) {
  return std::ranges::any_of(finding.places, [](const Place& place) { return place.line > 0; });
}

bool SaysTheSame(const Finding& one, const Finding& other) {
  return one.severity == other.severity && one.places == other.places && NamesALine(one) &&
         WithoutNumbers(one.message) == WithoutNumbers(other.message);
}

}  // namespace

void JoinRepeats(std::vector<Finding>& findings) {
  std::vector<std::pair<Finding, int64_t>> joined;  // each with how often it is told
  for (Finding& finding : findings) {
    const auto found = std::ranges::find_if(
        joined, [&](const auto& before) { return SaysTheSame(before.first, finding); });
    if (found == joined.end()) {
      joined.emplace_back(std::move(finding), 1);
      continue;
    }
    ++found->second;
    found->first.first_step = std::min(found->first.first_step, finding.first_step);
    found->first.last_step = std::max(found->first.last_step, finding.last_step);
    found->first.count += finding.count;
  }
  findings.clear();
  for (auto& [finding, times] : joined) {
    if (times > 1) {
      StrAppend(&finding.message, " This happens ", times, " times, the last time at step ",
                finding.last_step, ".");
    }
    findings.push_back(std::move(finding));
  }
}

}  // namespace dlcheck

#include "checks/catalog/findings/resume_finding.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "checks/engine/experiment.h"
#include "checks/engine/text.h"

namespace dlcheck::checkpoint {

bool IsChance(std::string_view part) {
  return part.starts_with("random/") || part.starts_with("data/");
}

bool ShowsLate(std::string_view part) {
  return part.starts_with("buffers of ") || part.starts_with("averages of ");
}

std::string PartsStory(const std::vector<std::string>& names, const Parts& plain,
                       const Parts& resumed) {
  std::string story =
      StrCat(Listed(names, 5), " (", names.size(), " of ", plain.size(), " parts of the state)");
  std::vector<std::string> gone, added;
  for (const std::string& name : names) {
    if (!resumed.contains(name)) gone.push_back(name);
    if (!plain.contains(name)) added.push_back(name);
  }
  if (gone.size() == names.size()) {
    story += "; the resumed run has none of these";
  } else if (!gone.empty()) {
    StrAppend(&story, "; the resumed run lacks ", Listed(gone, 5));
  }
  if (!added.empty()) StrAppend(&story, "; only the resumed run has ", Listed(added, 5));
  return story;
}

std::string LossStory(const Losses& plain, const Losses& resumed, int64_t at_step) {
  const std::optional<size_t> at = FirstDifference(plain, resumed);
  if (!at) return "";
  const auto [now, before] = ShortApart(resumed[*at].value, plain[*at].value);
  return StrCat("; the loss of step ", at_step + plain[*at].step, " is ", now, " instead of ",
                before);
}

std::string ResumeMessage(const std::string& parts, const std::string& loss, int64_t at_step) {
  const std::string_view middle =
      parts.empty() ? ", although all parts of the state are equal" : " in ";
  return StrCat("A run resumed after ", Counted(at_step, "step"),
                " differs from the uninterrupted run", middle, parts, loss);
}

Finding Differing(Severity severity, std::string message, const std::vector<std::string>& names,
                  int64_t at_step) {
  std::vector<Place> places;
  for (const std::string& name : names) places.push_back({.thing = name, .file = ""});
  return {.severity = severity,
          .message = message + ".",
          .places = std::move(places),
          .first_step = at_step,
          .last_step = at_step + kResumed.steps - 1,
          .count = static_cast<int64_t>(names.size()),
          .measured = static_cast<double>(names.size()),
          .bound = 0};
}

std::string Compared(const Parts& parts, const Losses& expected, const Losses& got) {
  return StrCat(
      Counted(static_cast<int64_t>(parts.size()), "part"), " of the state, ",
      Counted(static_cast<int64_t>(std::min(expected.size(), got.size())), "backward call"));
}

}  // namespace dlcheck::checkpoint

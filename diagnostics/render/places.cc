#include "diagnostics/render/places.h"

#include <vector>

#include "checks/engine/text.h"
#include "diagnostics/fingerprint.h"

namespace dlcheck {

std::string WhereAndWhen(const Finding& finding) {
  std::string text = PlaceOf(finding);
  const std::string when = finding.first_step == finding.last_step
                               ? StrCat("step ", finding.first_step)
                               : StrCat("steps ", finding.first_step, " to ", finding.last_step);
  return text.empty() ? when : StrCat(text, ", ", when);
}

std::string MorePlaces(const Finding& finding) {
  std::vector<std::string> names;
  for (const Place& place : finding.places) {
    if (!NameOf(place).empty()) names.push_back(NameOf(place));
  }
  const bool is_shown = names.size() == 1 && PlaceOf(finding) == names.front();
  return names.empty() || is_shown ? "" : Listed(names, kPlacesShown);
}

std::string LinesOf(const Finding& finding) {
  std::vector<std::string> lines;
  for (const Place& place : finding.places) {
    if (place.line > 0) lines.push_back(StrCat(BaseName(place.file), ":", place.line));
  }
  return lines.size() < 2 ? "" : Listed(lines, kPlacesShown);
}

}  // namespace dlcheck

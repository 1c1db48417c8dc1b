#include "diagnostics/fingerprint.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "checks/engine/text.h"
#include "checks/records/digest.h"

namespace dlcheck {

std::string BaseName(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string Fingerprint(const Check& check, const Finding& finding) {
  std::set<std::pair<std::string, std::string>> places;
  for (const Place& place : finding.places) places.insert({place.thing, BaseName(place.file)});
  std::string text(check.id);
  for (const auto& [thing, file] : places) StrAppend(&text, "|", thing, "|", file);
  return absl::StrCat(absl::Hex(Digest(text.data(), text.size()), absl::kZeroPad16));
}

std::string NameOf(const Place& place) {
  if (place.rank < 0) return place.thing;
  const std::string rank = StrCat("rank ", place.rank);
  return place.thing.empty() ? rank : StrCat(place.thing, " (", rank, ")");
}

std::string PlaceOf(const Finding& finding) {
  for (const Place& place : finding.places) {
    if (!place.file.empty() && place.line > 0) return StrCat(BaseName(place.file), ":", place.line);
  }
  return finding.places.empty() ? "" : NameOf(finding.places.front());
}

}  // namespace dlcheck

#include "diagnostics/cli/config/baseline_file.h"

#include <nlohmann/json.hpp>

#include "checks/engine/text.h"
#include "checks/records/line_file.h"
#include "diagnostics/fingerprint.h"

namespace dlcheck::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostBytes = size_t{64} << 20;

// The text of a member; empty if there is none, or it is no text.
std::string Text(const Json& object, const char* key) {
  const auto member = object.is_object() ? object.find(key) : object.end();
  return member != object.end() && member->is_string() ? member->get<std::string>() : "";
}

// A member that is a list; an empty list otherwise.
Json ListIn(const Json& object, const char* key) {
  const auto member = object.is_object() ? object.find(key) : object.end();
  return member != object.end() && member->is_array() ? *member : Json::array();
}

// Thing or file of the first place, for people.
std::string FirstPlace(const Json& finding) {
  const Json places = ListIn(finding, "places");
  if (places.empty()) return "";
  const std::string file = BaseName(Text(places[0], "file"));
  return file.empty() ? Text(places[0], "thing") : file;
}

}  // namespace

absl::StatusOr<std::string> BaselineOf(const std::string& result_json) {
  const Json result = Json::parse(result_json, nullptr, false);
  if (!result.is_object() || !result.contains("checks")) {
    return absl::InvalidArgumentError("this is no result.json of dlcheck");
  }
  std::set<std::string> taken;
  Json findings = Json::array();
  for (const Json& check : ListIn(result, "checks")) {
    for (const char* list : {"findings", "set_aside"}) {
      for (const Json& finding : ListIn(check, list)) {
        const std::string fingerprint = Text(finding, "fingerprint");
        if (Text(finding, "how") == "suppressed" || !taken.insert(fingerprint).second) continue;
        findings.push_back({{"fingerprint", fingerprint},
                            {"check", Text(check, "id")},
                            {"place", FirstPlace(finding)}});
      }
    }
  }
  const Json baseline = {{"schema", 1}, {"accepted", findings}};
  return baseline.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

absl::StatusOr<std::set<std::string>> ReadBaseline(const std::string& path) {
  const Expected<std::string> text = ReadWholeFile(path, kMostBytes);
  if (!text.ok()) {
    return absl::InvalidArgumentError(StrCat("cannot read baseline: ", text.failure().message));
  }
  const Json baseline = Json::parse(*text, nullptr, false);
  if (!baseline.is_object() || !baseline.contains("accepted")) {
    return absl::InvalidArgumentError(
        StrCat("'", path, "' is no baseline; make one with: dlcheck accept > FILE"));
  }
  std::set<std::string> fingerprints;
  for (const Json& finding : ListIn(baseline, "accepted")) {
    fingerprints.insert(Text(finding, "fingerprint"));
  }
  return fingerprints;
}

}  // namespace dlcheck::cli

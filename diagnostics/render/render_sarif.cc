// SARIF 2.1.0, which code hosts and editors read.
// Source: OASIS Standard, Static Analysis Results Interchange Format (SARIF) Version 2.1.0.
#include <cctype>
#include <nlohmann/json.hpp>

#include "checks/engine/text.h"
#include "checks/records/version.h"
#include "diagnostics/fingerprint.h"
#include "diagnostics/render/in_order.h"
#include "diagnostics/render/render.h"

namespace dlcheck {
namespace {

using Json = nlohmann::ordered_json;

// GitHub takes no more results of one run; the worst come first.
// Source: docs.github.com, "SARIF support for code scanning", limits.
constexpr size_t kMostResults = 5000;

std::string_view SarifLevel(Severity severity) {
  return severity == Severity::kNote ? "note" : SeverityName(severity);
}

// A path is relative to the folder of the run where it lies below it, as hosts of code want it.
std::string UriOf(const std::string& path) {
  constexpr std::string_view kKept = "-._~/";
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const unsigned char c : path) {
    if (std::isalnum(c) || kKept.find(static_cast<char>(c)) != std::string_view::npos) {
      uri += static_cast<char>(c);
    } else {
      uri += absl::StrCat("%", absl::Hex(c, absl::kZeroPad2));
    }
  }
  return uri;
}

Json LocationOf(const Place& place, const Frame& frame) {
  Json artifact = {{"uri", UriOf(ShownPath(place.file, frame))}};
  return {{"physicalLocation",
           {{"artifactLocation", std::move(artifact)}, {"region", {{"startLine", place.line}}}}}};
}

Json RuleOf(const Check& check, Language language) {
  return {{"id", check.id},
          {"shortDescription", {{"text", check.title}}},
          {"fullDescription", {{"text", check.promise}}},
          {"help", {{"text", StrCat(check.why, " Fix: ", FixIn(check, language))}}},
          {"defaultConfiguration", {{"level", SarifLevel(check.worst)}}}};
}

Json SarifResult(const Check& check, const Finding& finding, Language language,
                 const Frame& frame) {
  Json json = {{"ruleId", check.id},
               {"level", SarifLevel(finding.severity)},
               {"message", {{"text", StrCat(finding.message, " Fix: ", FixIn(check, language))}}},
               {"partialFingerprints", {{"dlcheck/v1", Fingerprint(check, finding)}}}};
  if (const Place* place = LineOf(finding))
    json["locations"] = Json::array({LocationOf(*place, frame)});
  return json;
}

}  // namespace

std::string RenderSarif(const Report& report, const Frame& frame) {
  Json rules = Json::array(), results = Json::array();
  for (const Result* result : InOrder(report)) {
    rules.push_back(RuleOf(*result->check, report.language));
    for (const Finding& finding : result->verdict.findings) {
      if (results.size() < kMostResults)
        results.push_back(SarifResult(*result->check, finding, report.language, frame));
    }
  }
  const Json driver = {{"name", "dlcheck"}, {"version", kVersion}, {"rules", std::move(rules)}};
  const Json invocation = {{"executionSuccessful", frame.exit_code <= 1},
                           {"exitCode", frame.exit_code},
                           {"exitCodeDescription", frame.exit_reason}};
  const Json json = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                     {"version", "2.1.0"},
                     {"runs", Json::array({{{"tool", {{"driver", driver}}},
                                            {"invocations", Json::array({invocation})},
                                            {"results", std::move(results)}}})}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace dlcheck

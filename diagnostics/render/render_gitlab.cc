// GitLab's code quality report, shown in merge requests.
// Source: docs.gitlab.com, "Code Quality", "Code Quality report format".
#include <nlohmann/json.hpp>

#include "checks/engine/text.h"
#include "diagnostics/fingerprint.h"
#include "diagnostics/render/in_order.h"
#include "diagnostics/render/render.h"

namespace dlcheck {
namespace {

using Json = nlohmann::ordered_json;

std::string_view GitlabLevel(Severity severity) {
  if (severity == Severity::kError) return "critical";
  return severity == Severity::kWarning ? "major" : "info";
}

}  // namespace

std::string RenderGitlab(const Report& report, const Frame& frame) {
  Json json = Json::array();
  for (const Result* result : InOrder(report)) {
    for (const Finding& finding : result->verdict.findings) {
      // The format wants a file and a line of everything: those without stand at the whole run.
      const Place* place = LineOf(finding);
      json.push_back({{"description", StrCat(result->check->title, ": ", finding.message)},
                      {"check_name", result->check->id},
                      {"fingerprint", Fingerprint(*result->check, finding)},
                      {"severity", GitlabLevel(finding.severity)},
                      {"location",
                       {{"path", place == nullptr ? "." : ShownPath(place->file, frame)},
                        {"lines", {{"begin", place == nullptr ? 1 : place->line}}}}}});
    }
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace dlcheck

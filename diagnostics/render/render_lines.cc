// A line a finding: for editors and grep, and as JSON for programs.
#include <nlohmann/json.hpp>

#include "checks/engine/text.h"
#include "checks/records/visible.h"
#include "diagnostics/fingerprint.h"
#include "diagnostics/render/in_order.h"
#include "diagnostics/render/render.h"

namespace dlcheck {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::string RenderConcise(const Report& report, const Frame& frame) {
  std::string text;
  for (const Result* result : InOrder(report)) {
    for (const Finding& finding : result->verdict.findings) {
      const Place* place = LineOf(finding);
      const std::string where =
          place == nullptr ? "" : StrCat(ShownPath(place->file, frame), ":", place->line, ": ");
      text += Visible(StrCat(where, SeverityName(finding.severity), ": ", result->check->id, ": ",
                             finding.message)) +
              "\n";
    }
  }
  return text;
}

std::string RenderJsonLines(const Report& report) {
  std::string text;
  for (const Result* result : InOrder(report)) {
    for (const Finding& finding : result->verdict.findings) {
      const Place* place = LineOf(finding);
      Json json = {
          {"check", result->check->id},     {"severity", SeverityName(finding.severity)},
          {"title", result->check->title},  {"message", finding.message},
          {"fix", result->check->fix},      {"first_step", finding.first_step},
          {"last_step", finding.last_step}, {"fingerprint", Fingerprint(*result->check, finding)}};
      if (place != nullptr) {
        json["file"] = place->file;
        json["line"] = place->line;
      }
      text += json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    }
  }
  return text;
}

}  // namespace dlcheck

#include <pugixml.hpp>
#include <sstream>

#include "checks/engine/text.h"
#include "diagnostics/fingerprint.h"
#include "diagnostics/render/render.h"
#include "diagnostics/render/xml_text.h"

namespace dlcheck {
namespace {

void Set(pugi::xml_node& node, const char* name, std::string_view value) {
  node.append_attribute(name).set_value(XmlText(value).c_str());
}

std::string Line(const Result& result, const Finding& finding) {
  const std::string place = PlaceOf(finding);
  return StrCat(SeverityName(finding.severity), ": ", place, place.empty() ? "" : ": ",
                finding.message, "\nfix: ", result.check->fix, "\n");
}

std::string Lines(const Result& result) {
  std::string text;
  for (const Finding& finding : result.verdict.findings) text += Line(result, finding);
  for (const SetAsideFinding& aside : result.set_aside) {
    const bool accepted = aside.how == SetAsideFinding::How::kAccepted;
    StrAppend(&text, accepted ? "accepted" : StrCat("suppressed (", aside.reason, ")"), ": ",
              Line(result, aside.finding));
  }
  return text;
}

bool Fails(const Result& result, const Frame& frame) {
  return result.outcome == Outcome::kFailed && WorstOf(result.verdict) >= frame.fail_on;
}

void AddCase(const Result& result, const Frame& frame, pugi::xml_node& suite) {
  pugi::xml_node node = suite.append_child("testcase");
  const std::string_view id = result.check->id;
  Set(node, "name", id.substr(id.find('/') + 1));
  Set(node, "classname", StrCat("dlcheck.", AreaOf(id)));
  if (Fails(result, frame)) {
    pugi::xml_node failure = node.append_child("failure");
    Set(failure, "message",
        StrCat(result.check->title, ". ", result.verdict.findings.front().message));
    Set(failure, "type", SeverityName(WorstOf(result.verdict)));
    failure.text().set(XmlText(Lines(result)).c_str());
  } else if (result.outcome == Outcome::kBroken) {
    pugi::xml_node error = node.append_child("error");
    Set(error, "message", result.reason);
    Set(error, "type", "internal error");
  } else if (!HasVerdict(result)) {
    pugi::xml_node skipped = node.append_child("skipped");
    Set(skipped, "message", StrCat(OutcomeName(result.outcome), ": ", result.reason));
  } else if (const std::string lines = Lines(result); !lines.empty()) {
    node.append_child("system-out").text().set(XmlText(lines).c_str());
  }
}

}  // namespace

std::string RenderJunit(const Report& report, const Frame& frame) {
  int failures = 0, errors = 0, skipped = 0;
  for (const Result& result : report.results) {
    failures += Fails(result, frame);
    errors += result.outcome == Outcome::kBroken;
    skipped += !HasVerdict(result) && result.outcome != Outcome::kBroken;
  }
  pugi::xml_document document;
  pugi::xml_node suite = document.append_child("testsuites").append_child("testsuite");
  Set(suite, "name", "dlcheck");
  suite.append_attribute("tests").set_value(report.results.size());
  suite.append_attribute("failures").set_value(failures);
  suite.append_attribute("errors").set_value(errors);
  suite.append_attribute("skipped").set_value(skipped);
  for (const Result& result : report.results) AddCase(result, frame, suite);
  std::ostringstream text;
  document.save(text, "  ", pugi::format_default, pugi::encoding_utf8);
  return text.str();
}

}  // namespace dlcheck

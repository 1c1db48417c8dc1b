#include <pugixml.hpp>

#include "checks/engine/text.h"
#include "diagnostics/render/html/sections.h"

namespace dlcheck {
namespace html {
namespace {

constexpr size_t kMostRawBytes = 256 << 10;

std::string CountsOf(const Page& page) {
  int counts[3] = {};
  for (const Cause& cause : page.causes) {
    for (const Finding& finding : cause.result->verdict.findings) {
      ++counts[static_cast<int>(finding.severity)];
    }
  }
  std::string text;
  constexpr Severity kWorstFirst[] = {Severity::kError, Severity::kWarning, Severity::kNote};
  for (const Severity severity : kWorstFirst) {
    const int count = counts[static_cast<int>(severity)];
    if (count == 0) continue;
    StrAppend(&text, text.empty() ? "" : ", ", Counted(count, SeverityName(severity)));
  }
  return text;
}

std::string VerdictOf(const Page& page) {
  const std::string counts = CountsOf(page);
  if (!counts.empty()) return counts;
  return page.report.coverage.training ? "No findings" : "No training was observed";
}

void AddHeader(Node body, const Page& page) {
  Node header = Add(body, "header");
  Node link = Add(header, "a", "Skip to the findings", "skip");
  Set(link, "href", "#findings");
  const bool good = page.causes.empty() && page.frame.exit_code == 0;
  Add(header, "h1", StrCat("dlcheck: ", VerdictOf(page)),
      good ? "verdict good" : (page.frame.exit_code == 0 ? "verdict" : "verdict bad"));
  std::string command;
  for (const std::string& word : page.frame.command) StrAppend(&command, word, " ");
  if (!command.empty()) AddName(Add(header, "p"), command);
  Add(header, "p", ExitOf(page.frame), "soft");
}

}  // namespace

void AddRaw(Node main, const Page& page) {
  Node section = AddSection(main, "raw", "Raw result");
  const std::string json = RenderJson(page.report, page.frame);
  if (json.size() > kMostRawBytes) {
    Add(section, "p", StrCat("left out: ", json.size() >> 10, " KiB; they are in result.json"));
    return;
  }
  Node folded = Add(section, "details");
  Add(folded, "summary", "result.json");
  Node text = Add(folded, "pre");
  Set(text, "tabindex", "0");
  text.text().set(json.c_str());
}

}  // namespace html

std::string RenderHtml(const Report& report, const Frame& frame, const SeriesOfRun& series) {
  const std::vector<Cause> causes = Triage(report);
  const html::Page page{.report = report, .frame = frame, .series = series, .causes = causes};
  pugi::xml_document document;
  html::Node body = document.append_child("body");
  html::AddHeader(body, page);
  html::Node main = html::Add(body, "main");
  constexpr void (*kSections[])(html::Node, const html::Page&) = {
      html::AddFindings,  html::AddTimeline, html::AddSamples,   html::AddLayers,
      html::AddStepTimes, html::AddEvents,   html::AddProcesses, html::AddNotJudged,
      html::AddRun,       html::AddSetAside, html::AddPassed,    html::AddRaw};
  for (const auto add : kSections) add(main, page);
  html::AddContents(main);
  return html::DocumentOf("dlcheck report", body);
}

}  // namespace dlcheck

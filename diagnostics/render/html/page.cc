#include <pugixml.hpp>
#include <sstream>

#include "checks/engine/text.h"
#include "diagnostics/render/html/sections.h"
#include "diagnostics/render/html/style.h"

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

// Links to the sections that the page has.
void AddContents(Node before, Node main) {
  Node nav = before.parent().insert_child_before("nav", before);
  Set(nav, "aria-label", "Contents");
  Node list = Add(nav, "ul");
  for (const Node section : main.children("section")) {
    Node link = Add(Add(list, "li"), "a", section.child("h2").text().get());
    Set(link, "href", StrCat("#", section.attribute("id").value()));
  }
}

std::string Written(Node body) {
  std::ostringstream text;
  body.print(text, "", pugi::format_raw | pugi::format_no_empty_element_tags, pugi::encoding_utf8);
  return text.str();
}

}  // namespace

Node AddSection(Node main, const char* id, std::string_view heading) {
  Node section = Add(main, "section");
  Set(section, "id", id);
  Set(section, "aria-labelledby", StrCat(id, "-heading"));
  Set(Add(section, "h2", heading), "id", StrCat(id, "-heading"));
  return section;
}

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
      html::AddFindings, html::AddTimeline,  html::AddLayers,    html::AddStepTimes,
      html::AddEvents,   html::AddProcesses, html::AddNotJudged, html::AddRun,
      html::AddSetAside, html::AddPassed,    html::AddRaw};
  for (const auto add : kSections) add(main, page);
  html::AddContents(main, main);
  return StrCat("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">",
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">",
                "<title>dlcheck report</title><style>", html::kStyle, "</style></head>",
                html::Written(body), "</html>\n");
}

}  // namespace dlcheck

// What is shown of a program's own words: whatever they hold, each format stays whole.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "checks/catalog/catalog.h"
#include "diagnostics/render/render.h"
#include "diagnostics/samples/samples.h"
#include "tests/fuzz/promises.h"
#include "tests/fuzz/targets.h"

namespace dlcheck::fuzz {
namespace {

using Json = nlohmann::json;

constexpr char kOurScript[] = "<script class=\"dlcheck\"";

void RequireJson(const std::string& text) {
  Require(!Json::parse(text, nullptr, false).is_discarded(), "it is JSON");
}

// No element of a page comes from the program.
void RequirePage(const std::string& page) {
  const std::string others = absl::StrReplaceAll(page, {{kOurScript, ""}});
  Require(!absl::StrContains(others, "<script"), "a page has no script of others");
  const size_t begin = page.find("<body"), end = page.find("</body>");
  Require(begin != page.npos && end != page.npos, "a page has a body");
  pugi::xml_document body;
  Require(bool(body.load_string(page.substr(begin, end + 7 - begin).c_str())), "it is well formed");
}

}  // namespace

void RenderFinding(std::string_view bytes) {
  const std::string text(bytes);
  Report report;
  report.results.push_back({FindCheck("gradients/missing"), Outcome::kFailed, "", {}});
  report.results[0].verdict.findings.push_back(
      {.severity = Severity::kError,
       .message = text,
       .places = {{.thing = text, .file = text, .line = 3}},
       .first_step = 0,
       .last_step = 3,
       .count = 1,
       .measured = 1,
       .bound = 0});
  const Frame frame{
      .command = {text}, .folder = "/here", .exit_code = 1, .exit_reason = "findings"};
  RequireVisible(RenderText(report, frame));
  RequireVisible(RenderConcise(report, frame));
  for (const std::string& json :
       {RenderJson(report, frame), RenderSarif(report, frame), RenderGitlab(report, frame)}) {
    RequireJson(json);
  }
  pugi::xml_document junit;
  Require(bool(junit.load_string(RenderJunit(report, frame).c_str())), "JUnit is well formed");
  const std::string annotation = RenderGithub(report);
  Require(std::ranges::count(annotation, '\n') <= 1, "an annotation is one line");
  SeriesOfRun series;
  series.series.push_back(
      {.quantity = "loss", .thing = text, .unit = "", .buckets = {{0, 0, 1, 1}}});
  RequirePage(RenderHtml(report, frame, series));
}

void ReadSamplesFile(std::string_view bytes) {
  Frame frame;
  frame.samples = ParseSamples(std::string(bytes));
  RequirePage(RenderHtml(Report(), frame, SeriesOfRun()));
}

}  // namespace dlcheck::fuzz

#include <algorithm>
#include <deque>

#include "checks/engine/text.h"
#include "diagnostics/compare/comparison.h"
#include "diagnostics/compare/comparison_text.h"
#include "diagnostics/render/html/document.h"
#include "diagnostics/render/html/plot.h"

namespace dlcheck {
namespace html {
namespace {

constexpr size_t kMostChanged = 200;

struct Overlay {
  std::string_view quantity, title;
};
constexpr Overlay kOverlays[] = {{"loss", "Loss"},
                                 {"evaluation_loss", "Loss of the evaluations"},
                                 {"total_gradient_norm", "Norm of all gradients"},
                                 {"learning_rate", "Learning rate"},
                                 {"step_time", "Seconds from one step to the next"}};

Series Moved(const Series& series, int64_t offset) {
  Series moved = series;
  for (Bucket& bucket : moved.buckets) {
    bucket.first_step += offset;
    bucket.last_step += offset;
  }
  if (moved.first_nonfinite >= 0) moved.first_nonfinite += offset;
  return moved;
}

// The steps around the first difference are shaded.
void AddOverlays(Node main, const Comparison& comparison) {
  Node section = AddSection(main, "curves", "Curves of both");
  std::deque<Series> moved;  // plots point into it
  for (const Overlay& overlay : kOverlays) {
    const Series* a = Find(comparison.series_a, overlay.quantity);
    const Series* b = Find(comparison.series_b, overlay.quantity);
    Plot plot{.id = StrCat("series-", overlay.quantity),
              .title = std::string(overlay.title),
              .caption = "",
              .lines = {},
              .shaded = std::nullopt,
              .level = std::nullopt};
    if (a != nullptr) plot.lines.push_back({StrCat("A: ", comparison.name_a), a});
    if (b != nullptr) {
      moved.push_back(Moved(*b, comparison.offset.value_or(0)));
      plot.lines.push_back({StrCat("B: ", comparison.name_b), &moved.back()});
    }
    if (const auto& first = comparison.walk.first; first.has_value()) {
      plot.shaded = {std::max<int64_t>(0, first->last_equal), first->step_a};
      plot.caption = "The shaded steps hold the first difference.";
    }
    AddPlot(section, plot);
  }
  if (section.last_child() == section.first_child()) {
    Add(section, "p", "Neither run recorded a loss.");
  }
}

void AddAround(Node main, const Comparison& comparison) {
  Node section = AddSection(main, "around", "What is not the same around them");
  if (comparison.facts.empty()) {
    Add(section, "p", "Nothing that was recorded.");
    return;
  }
  Node table = AddTable(section, "Facts that differ", {"Fact", "A", "B"});
  for (const UnequalFact& fact : comparison.facts) AddRow(table, {fact.name, fact.a, fact.b});
}

void AddChanged(Node section, std::string_view caption,
                const std::vector<ComparedFinding>& findings) {
  if (findings.empty()) return;
  Node table = AddTable(section, caption, {"Severity", "Check", "Place", "Finding"});
  for (size_t i = 0; i < std::min(findings.size(), kMostChanged); ++i) {
    const ComparedFinding& one = findings[i];
    AddRow(table, {std::string(SeverityName(one.severity)), one.check, one.place, one.message});
  }
  if (findings.size() > kMostChanged) {
    Add(section, "p", StrCat(findings.size() - kMostChanged, " more are left out."));
  }
}

void AddFindingsOfBoth(Node main, const Comparison& comparison) {
  Node section = AddSection(main, "findings", "Findings added and gone");
  if (!comparison.has_findings) {
    Add(section, "p", "Not compared: one of the runs left no result.json.");
  } else if (comparison.added.empty() && comparison.gone.empty()) {
    Add(section, "p", "Both runs have the same findings.");
  }
  AddChanged(section, "Only in B", comparison.added);
  AddChanged(section, "Only in A", comparison.gone);
}

void AddDifference(Node main, const Comparison& comparison) {
  Node section = AddSection(main, "difference", "The first difference");
  Add(section, "p", StrCat(HeadlineOf(comparison), "."));
  if (comparison.walk.first.has_value()) {
    Add(section, "p", NumbersOf(comparison));
    Add(section, "p",
        StrCat("Cause: ", OriginName(comparison.reason.origin), ". ", comparison.reason.text));
    Add(section, "p", ExtentOf(comparison));
  }
  if (comparison.walk.steps > 0) Add(section, "p", StrCat("Equal: ", EqualPartOf(comparison), "."));
  Add(section, "p", OutcomeTextOf(comparison.outcome));
  for (const std::string& line : comparison.incomplete)
    Add(section, "p", StrCat("Incomplete records of ", line));
}

void AddNames(Node header, std::string_view letter, const std::string& name, int64_t steps) {
  Node line = Add(header, "p");
  AddText(line, StrCat(letter, ": "));
  AddName(line, name);
  AddText(line, StrCat(", ", Counted(steps, "step")));
}

}  // namespace
}  // namespace html

std::string RenderComparisonHtml(const Comparison& comparison) {
  pugi::xml_document document;
  html::Node body = document.append_child("body");
  html::Node header = html::Add(body, "header");
  html::Set(html::Add(header, "a", "Skip to the difference", "skip"), "href", "#difference");
  html::Add(header, "h1", StrCat("dlcheck compare: ", HeadlineOf(comparison)), "verdict");
  html::AddNames(header, "A", comparison.name_a, comparison.steps_a);
  html::AddNames(header, "B", comparison.name_b, comparison.steps_b);
  html::Node main = html::Add(body, "main");
  html::AddDifference(main, comparison);
  html::AddOverlays(main, comparison);
  html::AddAround(main, comparison);
  html::AddFindingsOfBoth(main, comparison);
  html::AddContents(main);
  return html::DocumentOf("dlcheck compare", body);
}

}  // namespace dlcheck

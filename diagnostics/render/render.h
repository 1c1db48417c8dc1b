// From a report to what people and machines read. Each renderer is a function of values; nothing
// here reads a file, a clock or an environment.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "checks/engine/report.h"
#include "diagnostics/samples/samples.h"
#include "diagnostics/series/series.h"
#include "diagnostics/tried_change.h"

namespace dlcheck {

// Lines of a program around one that a finding names.
struct Excerpt {
  std::string file;
  int line = 0, first_line = 0;
  std::vector<std::string> lines;
};

// What is known about the run beside the report itself.
struct Frame {
  std::vector<std::string> command = {};  // as given, secrets redacted
  std::string folder = "";                // in which the program ran; "": not known
  std::string result_path = "";           // where result.json was put; empty: nowhere
  std::string page_path = "";             // where report.html was put; empty: nowhere
  int exit_code = 0;
  std::string exit_reason = "";
  Severity fail_on = Severity::kError;
  bool with_reasons = false;    // the text says why each check reached no verdict
  bool new_only = false;        // the text counts what is accepted, and does not list it
  std::string unobserved = "";  // why the program could not be observed, where that is known
  std::optional<TriedChange> tried = {};  // with --deep, where a repair is known
  std::string loss = "";                  // a line of its course
  std::vector<Excerpt> excerpts = {};     // of the findings' lines, for the HTML page alone
  std::vector<KeptRows> samples = {};     // of the program's data, where --samples asked for them
  std::vector<std::pair<std::string, std::string>> environment = {};  // "python", "3.11.7"
  // Differs from run to run, and alone goes into the `volatile` object.
  std::string started = "";
  double wall_seconds = 0;
};

// The report for a person, at most 100 columns, without color. A healthy run fits ten lines.
std::string RenderText(const Report& report, const Frame& frame);

// result.json, schema 1. The same inputs give the same bytes apart from the object `volatile`.
std::string RenderJson(const Report& report, const Frame& frame);

// JUnit's XML: a test case a check, a failure for findings at or above `fail_on`, skipped where
// there is no verdict.
std::string RenderJunit(const Report& report, const Frame& frame);

// Workflow commands of GitHub Actions, an annotation a finding, at most ten of a severity: the
// platform shows no more.
std::string RenderGithub(const Report& report);

// SARIF 2.1.0, at most 5,000 results; paths are relative to the folder of the run.
std::string RenderSarif(const Report& report, const Frame& frame);

// GitLab's code quality report.
std::string RenderGitlab(const Report& report, const Frame& frame);

// "train.py:23: error: optimizer/stale_gradients: ...", a line a finding.
std::string RenderConcise(const Report& report, const Frame& frame);

// A JSON object a finding, each in its line.
std::string RenderJsonLines(const Report& report);

// A summary in Markdown, below 1 MiB.
std::string RenderMarkdown(const Report& report, const Frame& frame);

// One HTML page without scripts or links to other files; everything in it works from a file.
std::string RenderHtml(const Report& report, const Frame& frame, const SeriesOfRun& series);

// A check's page, from its own fields, with its fix and lines in a language; `dlcheck explain`.
std::string RenderExplanation(const Check& check, Language language = Language::kPython);

// All pages as Markdown; `dlcheck explain --all` and docs/catalog.md.
std::string RenderCatalog(std::span<const Check> checks);

}  // namespace dlcheck

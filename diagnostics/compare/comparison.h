// Two runs side by side: where they part and why, what is not the same around them, which is
// better, and which findings came and went. A value: renderers turn it into text, JSON and HTML.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "checks/engine/report.h"
#include "diagnostics/compare/cause.h"
#include "diagnostics/compare/difference.h"
#include "diagnostics/compare/facts.h"
#include "diagnostics/compare/outcome.h"
#include "diagnostics/series/series.h"

namespace dlcheck {

// One run, as it is compared.
struct ComparedRun {
  std::string name;      // as the user gave it
  const Run* run;        // its plain run
  const Report* report;  // null where the run left no result
  std::vector<std::string> command;
};

struct ComparedFinding {
  Severity severity;
  std::string check, message, place, fingerprint;
};

struct Comparison {
  std::string name_a, name_b;
  int64_t steps_a = 0, steps_b = 0;
  std::optional<int64_t> offset = {};  // step of A beside step 0 of B; none: no step fits
  Walk walk = {};
  Reason reason = {};  // of the first difference
  std::vector<UnequalFact> facts = {};
  LossOutcome outcome = {};
  bool has_findings = false;                           // both runs left a result
  std::vector<ComparedFinding> added = {}, gone = {};  // of B beside A
  SeriesOfRun series_a = {}, series_b = {};
  std::vector<std::string> incomplete = {};  // what the records of a run lack, a line each
};

// `more_a`, `more_b`: series of further runs of the same two programs, with other seeds. `offset`:
// the user's own; else it is found.
Comparison Compare(const ComparedRun& a, const ComparedRun& b, std::optional<int64_t> offset,
                   const std::vector<SeriesOfRun>& more_a, const std::vector<SeriesOfRun>& more_b);

// 1 where B is worse, or has a new finding of at least this severity; 5 where no step of both was
// recorded, or records are damaged or missing; else 0.
int ExitCodeOf(const Comparison& comparison, Severity fail_on);

std::string RenderComparison(const Comparison& comparison);      // text, at most 100 columns
std::string RenderComparisonJson(const Comparison& comparison);  // schema dlcheck-comparison/1
std::string RenderComparisonHtml(const Comparison& comparison);  // one page without scripts

}  // namespace dlcheck

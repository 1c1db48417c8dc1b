#include "diagnostics/compare/comparison.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_join.h"
#include "checks/engine/text.h"
#include "diagnostics/fingerprint.h"

namespace dlcheck {
namespace {

std::vector<ComparedFinding> FindingsOf(const Report& report) {
  std::vector<ComparedFinding> findings;
  for (const Result& result : report.results) {
    for (const Finding& finding : result.verdict.findings) {
      findings.push_back({.severity = finding.severity,
                          .check = std::string(result.check->id),
                          .message = finding.message,
                          .place = PlaceOf(finding),
                          .fingerprint = Fingerprint(*result.check, finding)});
    }
  }
  return findings;
}

// Of `some`, worst first, what `others` does not have.
std::vector<ComparedFinding> Without(const std::vector<ComparedFinding>& some,
                                     const std::vector<ComparedFinding>& others) {
  std::set<std::string> known;
  for (const ComparedFinding& finding : others) known.insert(finding.fingerprint);
  std::vector<ComparedFinding> left;
  for (const ComparedFinding& finding : some) {
    if (known.insert(finding.fingerprint).second) left.push_back(finding);
  }
  std::ranges::stable_sort(left, std::ranges::greater(), &ComparedFinding::severity);
  return left;
}

std::vector<const SeriesOfRun*> WithFirst(const SeriesOfRun& first,
                                          const std::vector<SeriesOfRun>& more) {
  std::vector<const SeriesOfRun*> all = {&first};
  for (const SeriesOfRun& one : more) all.push_back(&one);
  return all;
}

void NoteLosses(std::string_view letter, const Losses& losses, std::vector<std::string>& lines) {
  for (const std::string& line : losses.damaged) lines.push_back(StrCat(letter, ": ", line));
  for (const std::string& line : losses.missing) lines.push_back(StrCat(letter, ": ", line));
}

void CompareFindings(const ComparedRun& a, const ComparedRun& b, Comparison& comparison) {
  comparison.has_findings = a.report != nullptr && b.report != nullptr;
  if (!comparison.has_findings) return;
  const auto of_a = FindingsOf(*a.report), of_b = FindingsOf(*b.report);
  comparison.added = Without(of_b, of_a);
  comparison.gone = Without(of_a, of_b);
}

}  // namespace

Comparison Compare(const ComparedRun& a, const ComparedRun& b, std::optional<int64_t> offset,
                   const std::vector<SeriesOfRun>& more_a, const std::vector<SeriesOfRun>& more_b) {
  Comparison comparison{.name_a = a.name, .name_b = b.name};
  comparison.series_a = ReadSeries(*a.run);
  comparison.series_b = ReadSeries(*b.run);
  comparison.steps_a = comparison.series_a.steps;
  comparison.steps_b = comparison.series_b.steps;
  const Facts facts_a = FactsOf(a.run->trace), facts_b = FactsOf(b.run->trace);
  const Measured of_a = MeasuredIn(a.run->trace), of_b = MeasuredIn(b.run->trace);
  comparison.offset =
      offset.has_value() ? offset : OffsetOf(of_a, of_b, facts_b.loads && !facts_a.loads);
  comparison.facts = UnequalFacts(facts_a, facts_b);
  if (!a.command.empty() && !b.command.empty() && a.command != b.command) {
    comparison.facts.push_back(
        {"command", absl::StrJoin(a.command, " "), absl::StrJoin(b.command, " ")});
  }
  if (comparison.offset.has_value()) {
    comparison.walk = WalkTogether(of_a, of_b, *comparison.offset);
    if (comparison.walk.first.has_value()) {
      comparison.reason = ReasonFor(*comparison.walk.first, facts_a, facts_b,
                                    SharesBatches(of_a, of_b, *comparison.offset));
    }
  }
  NoteLosses("A", a.run->losses, comparison.incomplete);
  NoteLosses("B", b.run->losses, comparison.incomplete);
  const bool equal = comparison.walk.values > 0 && comparison.incomplete.empty() &&
                     comparison.walk.trains_alike() &&
                     comparison.steps_a == comparison.steps_b + comparison.offset.value_or(0);
  comparison.outcome = LossOutcomeOf(WithFirst(comparison.series_a, more_a),
                                     WithFirst(comparison.series_b, more_b), equal);
  CompareFindings(a, b, comparison);
  return comparison;
}

int ExitCodeOf(const Comparison& comparison, Severity fail_on) {
  if (comparison.walk.steps == 0 || !comparison.incomplete.empty()) return kExitNothing;
  const auto counts = [fail_on](const ComparedFinding& one) { return one.severity >= fail_on; };
  const bool is_worse = comparison.outcome.b == Better::kWorse;
  return is_worse || std::ranges::any_of(comparison.added, counts) ? kExitFindings : kExitClean;
}

}  // namespace dlcheck

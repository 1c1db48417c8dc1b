#include "checks/engine/text.h"
#include "diagnostics/compare/comparison.h"
#include "diagnostics/compare/comparison_text.h"
#include "diagnostics/render/layout.h"

namespace dlcheck {
namespace {

constexpr size_t kFindingsShown = 20;

std::string Findings(std::string_view label, const std::vector<ComparedFinding>& findings) {
  std::string text;
  for (size_t i = 0; i < std::min(findings.size(), kFindingsShown); ++i) {
    const ComparedFinding& one = findings[i];
    const std::string place = one.place.empty() ? "" : StrCat(" (", one.place, ")");
    text += Row(i == 0 ? label : "",
                StrCat(SeverityName(one.severity), " ", one.check, place, ": ", one.message));
  }
  if (findings.size() > kFindingsShown) {
    text += Row("", StrCat(findings.size() - kFindingsShown, " more"));
  }
  return text;
}

}  // namespace

std::string RenderComparison(const Comparison& comparison) {
  std::string text = Row("dlcheck", StrCat(HeadlineOf(comparison), "."));
  text +=
      Row("", StrCat("A: ", comparison.name_a, ", ", Counted(comparison.steps_a, "step"),
                     ".  B: ", comparison.name_b, ", ", Counted(comparison.steps_b, "step"), "."));
  if (comparison.walk.first.has_value()) {
    text += Row("  differ", NumbersOf(comparison));
    text +=
        Row("  cause", StrCat(OriginName(comparison.reason.origin), ": ", comparison.reason.text));
    text += Row("  extent", ExtentOf(comparison));
  }
  if (comparison.walk.steps > 0) text += Row("  equal", EqualPartOf(comparison));
  for (const std::string& line : comparison.incomplete) text += Row("  lacks", line);
  bool is_first = true;
  for (const UnequalFact& fact : comparison.facts) {
    const std::string values = fact.a.empty() ? "" : StrCat(": A ", fact.a, ", B ", fact.b);
    text += Row(is_first ? "  around" : "", StrCat(fact.name, values));
    is_first = false;
  }
  text += Row("  result", OutcomeTextOf(comparison.outcome));
  if (!comparison.has_findings) {
    text += Row("  checks", "not compared: one of the runs left no result.json");
  } else if (comparison.added.empty() && comparison.gone.empty()) {
    text += Row("  checks", "the same findings in both");
  }
  text += Findings("  added", comparison.added);
  return text + Findings("  gone", comparison.gone);
}

}  // namespace dlcheck

#include "diagnostics/triage.h"

#include <algorithm>

namespace dlcheck {
namespace {

bool Explains(const Result& cause, const Result& symptom) {
  const auto& explained = cause.check->explains;
  return std::find(explained.begin(), explained.end(), symptom.check->id) != explained.end();
}

// A mild cause does not excuse a worse symptom: a note hides no error.
bool Hides(const Result& cause, const Result& symptom) {
  return &cause != &symptom && Explains(cause, symptom) &&
         WorstOf(cause.verdict) >= WorstOf(symptom.verdict);
}

}  // namespace

std::vector<Cause> Triage(const Report& report) {
  std::vector<const Result*> failed;
  for (const Result& result : report.results) {
    if (result.outcome == Outcome::kFailed) failed.push_back(&result);
  }
  std::vector<Cause> causes;
  for (const Result* result : failed) {
    const bool hidden = std::any_of(failed.begin(), failed.end(),
                                    [&](const Result* other) { return Hides(*other, *result); });
    if (!hidden) causes.push_back({result, {}});
  }
  for (const Result* result : failed) {
    for (Cause& cause : causes) {
      if (Hides(*cause.result, *result)) {
        cause.symptoms.push_back(result);
        break;
      }
    }
  }
  std::stable_sort(causes.begin(), causes.end(), [](const Cause& a, const Cause& b) {
    const Severity first = WorstOf(a.result->verdict), second = WorstOf(b.result->verdict);
    if (first != second) return first > second;
    // That the program failed is often what its fault led to, and seldom the other way round.
    const bool a_program = AreaOf(a.result->check->id) == "program";
    const bool b_program = AreaOf(b.result->check->id) == "program";
    if (a_program != b_program) return b_program;
    return a.symptoms.size() > b.symptoms.size();
  });
  return causes;
}

}  // namespace dlcheck

#include "diagnostics/exit_code.h"

namespace dlcheck {
namespace {

int CodeOf(const Report& report, const ExitRules& rules, Wholeness wholeness) {
  const Recording& recording = report.recording;
  if (!recording.rejected.empty() || wholeness == Wholeness::kDamaged) return kExitUsage;
  if (rules.interrupted) return kExitInterrupted;
  if (recording.at_deadline) return kExitDeadline;
  const int code = ExitCodeOf(report, rules.fail_on, rules.required);
  return code == kExitClean && wholeness == Wholeness::kMissing ? kExitNothing : code;
}

std::string ReasonOf(int code, Wholeness wholeness) {
  if (code == kExitUsage && wholeness == Wholeness::kDamaged) {
    return "the records are damaged (--partial judges what is left)";
  }
  if (code == kExitNothing && wholeness == Wholeness::kMissing) {
    return "the records are not complete (--partial judges what is there)";
  }
  switch (code) {
    case kExitClean:
      return "clean";
    case kExitFindings:
      return "findings";
    case kExitUsage:
      return "input rejected";
    case kExitInternal:
      return "a check is broken";
    case kExitUndecided:
      return "a required check reached no verdict";
    case kExitNothing:
      return "nothing was judged";
    case kExitDeadline:
      return "the program was ended at its deadline";
    default:
      return "interrupted";
  }
}

}  // namespace

Exit ExitOf(const Report& report, const ExitRules& rules) {
  const Wholeness wholeness = rules.partial ? Wholeness::kWhole : report.recording.wholeness;
  const int code = CodeOf(report, rules, wholeness);
  return {code, ReasonOf(code, wholeness)};
}

}  // namespace dlcheck

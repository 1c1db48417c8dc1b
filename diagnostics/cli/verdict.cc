#include "diagnostics/cli/verdict.h"

#include <cstdio>

#include "checks/engine/clock.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/records/line_file.h"
#include "checks/records/visible.h"
#include "checks/signals/run/run_ending.h"
#include "diagnostics/cli/config/baseline_file.h"
#include "diagnostics/cli/redacted.h"
#include "diagnostics/cli/redirected.h"
#include "diagnostics/cli/unobserved.h"
#include "diagnostics/render/render.h"
#include "diagnostics/set_aside.h"

namespace dlcheck::cli {
namespace {

// The line of a host that refused its input, if it did.
std::string Rejection(const Evidence& evidence) {
  for (const auto& [experiment, run] : evidence.runs()) {
    const absl::StatusOr<RunEnding> ending = RunEnding::From(run);
    if (ending.ok() && !ending->rejected_file.empty()) {
      return StrCat("input rejected: ", ending->rejected_file, ": ", ending->rejected_cause);
    }
  }
  return "";
}

// Attributes of a process that say what of it was not seen.
bool IsRecordingGap(std::string_view key) {
  return key == "unseen_threads" || key.starts_with("hook_failed/");
}

std::string GapReason(std::string_view key, const std::string& reason) {
  if (key == "unseen_threads") return "it trains in several threads, of which one was watched";
  if (key.starts_with("hook_failed/")) {
    return StrCat("dlcheck's own hook '", key.substr(key.find('/') + 1),
                  "' failed and was switched "
                  "off: ",
                  reason);
  }
  return reason;
}

// What the hooks themselves say was lost, one line each.
void PrintRecordingGaps(const Evidence& evidence) {
  for (const auto& [experiment, run] : evidence.runs()) {
    for (const auto& [key, reason] : run.trace.ProcessAttributes()) {
      if (!IsRecordingGap(key)) continue;
      std::fprintf(stderr, "dlcheck  recording of '%s' is not complete: %s\n",
                   Describe(experiment).c_str(), Visible(GapReason(key, reason)).c_str());
    }
  }
}

// How whole the records of all runs are: the worst of them.
enum class Wholeness : uint8_t { kWhole, kMissing, kDamaged };

Wholeness WholenessOf(const Evidence& evidence) {
  Wholeness worst = Wholeness::kWhole;
  for (const auto& [experiment, run] : evidence.runs()) {
    if (!run.losses.damaged.empty()) return Wholeness::kDamaged;
    // Experiments are cut short where they have shown what they were run for.
    if (experiment == kPlain && !run.losses.missing.empty()) worst = Wholeness::kMissing;
  }
  return worst;
}

const char* Reason(int code, Wholeness wholeness) {
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

// True if the plain run left not one record.
bool NothingRecorded(const Evidence& evidence) {
  const Run* plain = evidence.RunOf(kPlain);
  return plain != nullptr && plain->trace.Events().empty() && plain->trace.things().size() <= 1;
}

absl::Status WriteBaseline(const std::string& result_json, const std::string& path) {
  DLCHECK_ASSIGN_OR_RETURN(const std::string baseline, BaselineOf(result_json));
  const Expected<Done> written = WriteWholeFile(path, baseline);
  return written.ok() ? absl::OkStatus() : ToStatus(written.failure());
}

bool EndedAtDeadline(const Evidence& evidence) {
  const Run* plain = evidence.RunOf(kPlain);
  return plain != nullptr && plain->ending.how == Ending::How::kDeadline;
}

// Several at once rank 2, 130, 124, 3, 1, 4, 5, 0.
int ExitPriority(int from_report, bool rejected, bool interrupted, bool at_deadline,
                 Wholeness wholeness) {
  if (rejected || wholeness == Wholeness::kDamaged) return kExitUsage;
  if (interrupted) return kExitInterrupted;
  if (at_deadline) return kExitDeadline;
  if (from_report == kExitClean && wholeness == Wholeness::kMissing) return kExitNothing;
  return from_report;
}

}  // namespace

int Deliver(const Evidence& evidence, const Choice& choice, const Options& options,
            const OutputFolder& folder, const Occasion& occasion) {
  Report report = JudgeAll(evidence, choice.checks, choice.settings);
  SetAside(choice.exemptions, report);
  const std::string rejection = Rejection(evidence);
  Frame frame;
  const Wholeness wholeness = options.partial ? Wholeness::kWhole : WholenessOf(evidence);
  frame.exit_code =
      ExitPriority(ExitCodeOf(report, choice.fail_on, choice.required), !rejection.empty(),
                   occasion.interrupted, EndedAtDeadline(evidence), wholeness);
  frame.exit_reason = Reason(frame.exit_code, wholeness);
  frame.fail_on = choice.fail_on;
  frame.with_reasons = options.show_skipped;
  frame.new_only = options.new_only;
  if (NothingRecorded(evidence)) {
    frame.unobserved =
        WhyUnobserved(occasion.command, folder.Runs().value_or(std::vector<std::string>()));
  }
  frame.redirected = RedirectedFiles(evidence);
  frame.command = Redacted(occasion.command);
  frame.started = absl::FormatTime(occasion.started);
  frame.wall_seconds = absl::ToDoubleSeconds(MonotonicNow() - occasion.began);
  const std::string json = RenderJson(report, frame);
  if (occasion.write_result) {
    const absl::Status written = folder.WriteResult(json);
    frame.result_path = written.ok() ? choice.output_dir + "/result.json" : "";
    if (!written.ok()) Refuse(written);
  }
  PrintRecordingGaps(evidence);
  if (!rejection.empty()) std::fprintf(stderr, "dlcheck: %s\n", Visible(rejection).c_str());
  std::fputs(RenderText(report, frame).c_str(), stderr);
  if (options.write_baseline) {
    const absl::Status written = WriteBaseline(json, *options.write_baseline);
    if (!written.ok()) return Refuse(written);
  }
  for (const Output& output : choice.reports) {
    const absl::Status written = Write(output, report, frame);
    if (!written.ok()) return Refuse(written);
  }
  return frame.exit_code;
}

}  // namespace dlcheck::cli

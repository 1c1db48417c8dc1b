#include "diagnostics/cli/verdict.h"

#include <cstdio>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/records/line_file.h"
#include "checks/signals/run_ending.h"
#include "diagnostics/cli/baseline_file.h"
#include "diagnostics/cli/redirected.h"
#include "diagnostics/cli/unobserved.h"
#include "diagnostics/render.h"
#include "diagnostics/set_aside.h"

namespace dlcheck::cli {
namespace {

bool SpeaksOfASecret(const std::string& name) {
  const std::string lower = absl::AsciiStrToLower(name);
  for (const char* word :
       {"token", "secret", "password", "passwd", "api-key", "api_key", "apikey", "credential"}) {
    if (absl::StrContains(lower, word)) return true;
  }
  return false;
}

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
bool SpeaksOfALoss(std::string_view key) {
  return key == "quiet" || key == "damaged" || key == "unseen_threads" ||
         key.starts_with("hook_failed/");
}

std::string LossOf(std::string_view key, const std::string& reason) {
  if (key == "unseen_threads") return "it trains in several threads, of which one was watched";
  if (key.starts_with("hook_failed/")) {
    return StrCat("dlcheck's own hook '", key.substr(key.find('/') + 1),
                  "' failed and was switched "
                  "off: ",
                  reason);
  }
  return reason;
}

// What the record files themselves say was lost, one line each.
void PrintLosses(const Evidence& evidence) {
  for (const auto& [experiment, run] : evidence.runs()) {
    for (const auto& [key, reason] : run.trace.ProcessAttributes()) {
      if (!SpeaksOfALoss(key)) continue;
      std::fprintf(stderr, "dlcheck  recording of '%s' is not complete: %s\n",
                   Describe(experiment).c_str(), LossOf(key, reason).c_str());
    }
  }
}

const char* Reason(int code) {
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

// Several at once rank 2, 130, 3, 1, 4, 5, 0.
int Ranked(int from_report, bool rejected, bool interrupted) {
  if (rejected) return kExitUsage;
  return interrupted ? int{kExitInterrupted} : from_report;
}

}  // namespace

std::vector<std::string> Redacted(const std::vector<std::string>& command) {
  std::vector<std::string> redacted;
  bool value_is_secret = false;
  for (const std::string& word : command) {
    const size_t equals = word.find('=');
    if (value_is_secret) {
      redacted.emplace_back("***");
    } else if (equals != std::string::npos && SpeaksOfASecret(word.substr(0, equals))) {
      redacted.push_back(word.substr(0, equals + 1) + "***");
    } else {
      redacted.push_back(word);
    }
    value_is_secret = !value_is_secret && word.starts_with("-") && equals == std::string::npos &&
                      SpeaksOfASecret(word);
  }
  return redacted;
}

int Deliver(const Evidence& evidence, const Choice& choice, const Options& options,
            const OutputFolder& folder, const Occasion& occasion) {
  Report report = JudgeAll(evidence, choice.checks, choice.settings);
  SetAside(choice.exemptions, report);
  const std::string rejection = Rejection(evidence);
  Frame frame;
  frame.exit_code = Ranked(ExitCodeOf(report, choice.fail_on, choice.required), !rejection.empty(),
                           occasion.interrupted);
  frame.exit_reason = Reason(frame.exit_code);
  frame.fail_on = choice.fail_on;
  frame.with_reasons = options.reasons;
  frame.new_only = options.new_only;
  if (NothingRecorded(evidence)) {
    frame.unobserved = WhyUnobserved(occasion.command, folder.Runs());
  }
  frame.redirected = RedirectedFiles(evidence);
  frame.command = Redacted(occasion.command);
  frame.started = absl::FormatTime(occasion.started);
  frame.wall_seconds = absl::ToDoubleSeconds(absl::Now() - occasion.started);
  const std::string json = RenderJson(report, frame);
  if (occasion.write_result) {
    const absl::Status written = folder.WriteResult(json);
    frame.result_path = written.ok() ? choice.out + "/result.json" : "";
    if (!written.ok()) Refuse(written);
  }
  PrintLosses(evidence);
  if (!rejection.empty()) std::fprintf(stderr, "dlcheck: %s\n", rejection.c_str());
  std::fputs(RenderText(report, frame).c_str(), stderr);
  if (options.write_baseline) {
    const absl::Status written = WriteBaseline(json, *options.write_baseline);
    if (!written.ok()) return Refuse(written);
  }
  for (const Output& output : choice.outputs) {
    const absl::Status written = Write(output, report, frame);
    if (!written.ok()) return Refuse(written);
  }
  return frame.exit_code;
}

}  // namespace dlcheck::cli

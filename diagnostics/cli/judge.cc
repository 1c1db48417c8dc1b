// `dlcheck judge DIR`: judges records that are there already, of `dlcheck run` or of any probe.
#include "absl/time/clock.h"
#include "checks/engine/clock.h"
#include "checks/engine/status.h"
#include "checks/engine/trace_reader.h"
#include "diagnostics/cli/commands.h"
#include "diagnostics/cli/config/choice.h"
#include "diagnostics/cli/output_folder.h"
#include "diagnostics/cli/verdict.h"

namespace dlcheck::cli {
namespace {

absl::StatusOr<Evidence> ReadEvidence(const OutputFolder& folder, const Declarations& declared) {
  Evidence evidence;
  DLCHECK_ASSIGN_OR_RETURN(const std::vector<std::string> runs, folder.Runs());
  for (const std::string& run_folder : runs) {
    absl::StatusOr<RecordedRun> recorded = ReadRecordedRun(run_folder);
    // dlcheck was killed between making the folder of an experiment and beginning it.
    if (absl::IsNotFound(recorded.status()) && run_folder != runs.front()) continue;
    if (!recorded.ok()) return recorded.status();
    SetDeclared(declared, recorded->run.trace);
    evidence.Add(recorded->experiment, std::move(recorded->run));
  }
  if (evidence.runs().empty()) {
    return absl::InvalidArgumentError(folder.path() + " holds no run with records");
  }
  return evidence;
}

}  // namespace

int JudgeMain(const Words& words) {
  Options options;
  std::string path;
  CommandLine line("judge [OPTIONS] DIR", "Judges the records of an earlier run again.");
  AddSharedOptions(line, options);
  line.Value("DIR", "DIR", &path, "an output folder of dlcheck run", {.required = true});
  if (const auto code = line.Parse(words)) return *code;
  const absl::StatusOr<Choice> choice = Resolve(options);
  if (!choice.ok()) return Refuse(choice.status());
  const absl::StatusOr<OutputFolder> folder = OutputFolder::Open(path);
  if (!folder.ok()) return Refuse(folder.status());
  const absl::StatusOr<Evidence> evidence = ReadEvidence(*folder, choice->declared);
  if (!evidence.ok()) return Refuse(evidence.status());
  return Deliver(
      JudgeAs(*choice, *evidence), *evidence, *choice, *folder,
      {.command = {}, .started = absl::Now(), .began = MonotonicNow(), .write_result = false});
}

}  // namespace dlcheck::cli

// `dlcheck judge DIR`: judges records that are there already, of `dlcheck run` or of any probe.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

#include "absl/time/clock.h"
#include "checks/engine/clock.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/engine/trace_reader.h"
#include "checks/records/visible.h"
#include "diagnostics/cli/commands.h"
#include "diagnostics/cli/config/choice.h"
#include "diagnostics/cli/log_reader.h"
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

// Checks that need nothing but the numbers which programs log.
constexpr std::string_view kLogChecks[] = {"training_loop/loss_spike", "evaluation/rising_loss",
                                           "numerics/nonfinite_values"};

int JudgeLog(Choice choice, const std::string& path) {
  const absl::StatusOr<Log> log = LogAt(path);
  if (!log.ok()) return Refuse(log.status());
  if (std::ranges::none_of(
          log->rows, [](const LogRow& row) { return RoleOf(row.name) == Role::kTrainingLoss; })) {
    std::set<std::string> names;
    for (const LogRow& row : log->rows) names.insert(row.name);
    return Refuse(absl::InvalidArgumentError(StrCat("'", path, "' names no training loss, but ",
                                                    Listed({names.begin(), names.end()}, 8))));
  }
  std::erase_if(choice.checks, [](const Check* check) {
    return std::ranges::find(kLogChecks, check->id) == std::end(kLogChecks);
  });
  if (choice.checks.empty()) {
    return Refuse(absl::InvalidArgumentError("none of the selected checks can judge a log"));
  }
  std::fprintf(stderr, "dlcheck  %s: %s, %s\n", Visible(path).c_str(), log->kind.c_str(),
               Counted(static_cast<int64_t>(log->rows.size()), "number").c_str());
  for (const std::string& flaw : log->flaws) {
    std::fprintf(stderr, "dlcheck  %s: %s\n", Visible(path).c_str(), Visible(flaw).c_str());
  }
  Evidence evidence;
  evidence.Add(kPlain, RunOf(*log));
  return Deliver(
      JudgeAs(choice, evidence), evidence, choice, nullptr,
      {.command = {}, .started = absl::Now(), .began = MonotonicNow(), .write_result = false});
}

bool IsOurs(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::is_directory(path + "/runs", unknown) ||
         std::filesystem::exists(path + "/result.json", unknown);
}

}  // namespace

int JudgeMain(const Words& words) {
  Options options;
  std::string path;
  CommandLine line(
      "judge [OPTIONS] PATH",
      "Judges the records of an earlier run again, or the log that another tool wrote.");
  AddSharedOptions(line, options);
  line.Value("PATH", "PATH", &path, "an output folder of dlcheck run, or a log of another tool",
             {.required = true});
  if (const auto code = line.Parse(words)) return *code;
  const absl::StatusOr<Choice> choice = Resolve(options);
  if (!choice.ok()) return Refuse(choice.status());
  if (!IsOurs(path)) return JudgeLog(*choice, path);
  const absl::StatusOr<OutputFolder> folder = OutputFolder::Open(path);
  if (!folder.ok()) return Refuse(folder.status());
  const absl::StatusOr<Evidence> evidence = ReadEvidence(*folder, choice->declared);
  if (!evidence.ok()) return Refuse(evidence.status());
  return Deliver(
      JudgeAs(*choice, *evidence), *evidence, *choice, &*folder,
      {.command = {}, .started = absl::Now(), .began = MonotonicNow(), .write_result = false});
}

}  // namespace dlcheck::cli

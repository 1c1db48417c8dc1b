// `dlcheck verify [DIR]`: whether the records of an earlier run are as they were written.
#include <cstdio>

#include "checks/engine/report.h"
#include "checks/engine/text.h"
#include "checks/engine/trace_reader.h"
#include "checks/records/visible.h"
#include "diagnostics/cli/commands.h"
#include "diagnostics/cli/config/options.h"
#include "diagnostics/cli/output_folder.h"

namespace dlcheck::cli {
namespace {

void Print(const std::string& line) { std::printf("%s\n", Visible(line).c_str()); }

// What is wrong with one run, a line each. Returns the exit code that this alone would give.
int Verify(const std::string& folder) {
  const std::string name = folder.substr(folder.rfind('/') + 1);
  const absl::StatusOr<RecordedRun> recorded = ReadRecordedRun(folder);
  if (absl::IsNotFound(recorded.status())) {
    Print(StrCat(name, "  not complete: ", recorded.status().message()));
    return kExitNothing;
  }
  if (!recorded.ok()) {
    Print(StrCat(name, "  damaged: ", recorded.status().message()));
    return kExitUsage;
  }
  const Losses& losses = recorded->run.losses;
  for (const std::string& line : losses.damaged) Print(StrCat(name, "  damaged: ", line));
  for (const std::string& line : losses.missing) Print(StrCat(name, "  not complete: ", line));
  if (losses.empty()) Print(StrCat(name, "  whole"));
  if (!losses.damaged.empty()) return kExitUsage;
  return losses.missing.empty() ? kExitClean : kExitNothing;
}

// Damaged before not complete before whole.
int Worse(int first, int second) {
  if (first == kExitUsage || second == kExitUsage) return kExitUsage;
  return first == kExitClean ? second : first;
}

}  // namespace

int VerifyMain(const Words& words) {
  std::string path = "dlcheck-out";
  CommandLine line("verify [DIR]",
                   "Says whether the records of an earlier run are as they were written.\n"
                   "Exit codes: 0 whole, 2 damaged, 5 not complete.");
  line.Value("DIR", "DIR", &path, "an output folder of dlcheck run (dlcheck-out)");
  if (const auto code = line.Parse(words)) return *code;
  const absl::StatusOr<OutputFolder> folder = OutputFolder::Open(path);
  if (!folder.ok()) return Refuse(folder.status());
  const absl::StatusOr<std::vector<std::string>> runs = folder->Runs();
  if (!runs.ok()) return Refuse(runs.status());
  if (runs->empty()) {
    return Refuse(absl::InvalidArgumentError(StrCat("'", path, "' holds no runs of dlcheck")));
  }
  int code = kExitClean;
  for (const std::string& run : *runs) code = Worse(code, Verify(run));
  return code;
}

}  // namespace dlcheck::cli

// `dlcheck accept [DIR]`: prints the findings of a run as a baseline for later runs.
#include <cstdio>

#include "checks/engine/report.h"
#include "checks/records/line_file.h"
#include "diagnostics/cli/commands.h"
#include "diagnostics/cli/config/baseline_file.h"
#include "diagnostics/cli/config/options.h"
#include "diagnostics/cli/result_file.h"

namespace dlcheck::cli {

int AcceptMain(const Words& words) {
  std::string path = "dlcheck-out";
  CommandLine line(
      "accept [DIR]",
      "Prints the findings of a run as a baseline: later runs accept them with --baseline.");
  line.Value("DIR", "DIR", &path, "an output folder of dlcheck run (dlcheck-out)");
  if (const auto code = line.Parse(words)) return *code;
  const Expected<std::string> result = ReadWholeFile(path + "/result.json", kMostResultBytes);
  if (!result.ok()) return Refuse(absl::InvalidArgumentError(result.failure().message));
  const absl::StatusOr<std::string> baseline = BaselineOf(*result);
  if (!baseline.ok()) return Refuse(baseline.status());
  std::fputs(baseline->c_str(), stdout);
  return kExitClean;
}

}  // namespace dlcheck::cli

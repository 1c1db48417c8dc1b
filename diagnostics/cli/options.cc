#include "diagnostics/cli/options.h"

#include <cstdio>

#include "checks/records/visible.h"

namespace dlcheck::cli {

void AddSharedOptions(CommandLine& line, Options& options) {
  line.Group("Checks");
  line.Value("--select", "CHECKS", &options.select, "checks to judge: ids, areas or globs",
             {.commas = true});
  line.Value("--ignore", "CHECKS", &options.ignore, "checks to leave out", {.commas = true});
  line.Value("--set", "CHECK:SETTING=VALUE", &options.set, "change a setting of a check, repeatable");
  line.Value("--require", "CHECKS", &options.required,
             "checks that must reach a verdict (else exit 4)", {.commas = true});
  line.Value("--fail-on", "SEVERITY", &options.fail_on, "note, warning or error (default)");
  line.Value("--program", "KEY=VALUE", &options.program, "what the program means, repeatable");
  line.Group("Findings known before");
  line.Value("--baseline", "FILE", &options.baseline, "accept the findings that this file holds");
  line.Value("--write-baseline", "FILE", &options.write_baseline, "write a file for --baseline");
  line.Flag("--new-only", &options.new_only, "list new findings alone, and count the accepted");
  line.Group("Report");
  line.Value("--output", "FORMAT[=FILE]", &options.outputs,
             "junit=FILE, json=FILE, text=FILE or github, repeatable");
  line.Value("--json", "FILE", &options.json, "write result.json here as well");
  line.Flag("--partial", &options.partial,
            "judge records that are damaged or not complete as if they were whole");
  line.Flag("--reasons", &options.reasons, "say why each check reached no verdict");
}

void AddRunOptions(CommandLine& line, Options& options) {
  AddSharedOptions(line, options);
  line.Value("--out", "FOLDER", &options.out, "folder of records and result (dlcheck-out)");
  line.Group("Program");
  line.Value("--deadline", "SECONDS", &options.deadline_seconds,
             "end the program itself after so many seconds (never; 600 for check)",
             {.positive = true});
  line.Flag("--no-live", &options.no_live, "judge at the end alone");
  line.Value("--stop-on", "error", &options.stop_on, "end the program at its first live error",
             {.choices = {"error"}});
  line.Value("--exit-status", "WHOSE", &options.exit_status,
             "subject: exit as the program did, whatever was found",
             {.choices = {"dlcheck", "subject"}});
  line.Group("Experiments");
  line.Value("--time", "SECONDS", &options.time_seconds,
             "seconds that all experiments may take (600)", {.positive = true});
}

int Refuse(const absl::Status& status) {
  std::fprintf(stderr, "dlcheck: %s\n", Visible(std::string(status.message())).c_str());
  return kExitUsage;
}

}  // namespace dlcheck::cli

#include "diagnostics/cli/config/options.h"

#include <cstdio>

#include "checks/engine/report.h"
#include "checks/records/visible.h"
#include "diagnostics/cli/terminal.h"

namespace dlcheck::cli {

void AddSharedOptions(CommandLine& line, Options& options) {
  line.Group("Checks");
  line.Value("--select", "CHECKS", &options.select, "judge only these checks: ids, areas or globs",
             {.commas = true});
  line.Value("--ignore", "CHECKS", &options.ignore, "leave these checks out", {.commas = true});
  line.Value("--set", "CHECK:SETTING=VALUE", &options.set,
             "change a setting of a check; repeatable");
  line.Value("--require", "CHECKS", &options.required,
             "exit 4 if one of these checks reaches no verdict", {.commas = true});
  line.Value("--fail-on", "SEVERITY", &options.fail_on,
             "fail the run at this severity: note, warning or error (default)");
  line.Value("--declare", "KEY=VALUE", &options.declared,
             "state an intention of the program, as reduction=mean; repeatable");
  line.Group("Known findings");
  line.Value("--baseline", "FILE", &options.baseline, "accept the findings in this file");
  line.Value("--write-baseline", "FILE", &options.write_baseline,
             "write all findings to a file for --baseline");
  line.Flag("--new-only", &options.new_only, "list only new findings, and count the accepted ones");
  line.Group("Report");
  line.Value("--report", "FORMAT[=FILE]", &options.reports,
             "also write json=FILE, html=FILE, ...; an unknown FORMAT lists all");
  line.Flag("--partial", &options.partial,
            "judge damaged or incomplete records as if they were complete");
  line.Flag("--show-skipped", &options.show_skipped,
            "list each check without a verdict, and the reason");
  AddColorOption(line, options.color);
}

void AddRunOptions(CommandLine& line, Options& options) {
  AddSharedOptions(line, options);
  line.Value("--output-dir", "FOLDER", &options.output_dir,
             "folder for records and results (dlcheck-out)");
  line.Group("Program");
  line.Value("--timeout", "SECONDS", &options.timeout,
             "end the program after this many seconds (run: never; check: 600)",
             {.positive = true});
  line.Flag("--no-live", &options.no_live, "judge only after the program has ended");
  line.Value("--stop-on", "error", &options.stop_on, "end the program at its first live error",
             {.choices = {"error"}});
  line.Value("--exit-code", "dlcheck|program", &options.exit_code,
             "program: exit with the program's own code, whatever was found",
             {.choices = {"dlcheck", "program"}});
  line.Group("Experiments (--deep)");
  line.Value("--deep-timeout", "SECONDS", &options.deep_timeout,
             "time budget in seconds of all experiments together (600)", {.positive = true});
}

int Refuse(const absl::Status& status) {
  std::fprintf(stderr, "dlcheck: %s\n", Visible(std::string(status.message())).c_str());
  return kExitUsage;
}

}  // namespace dlcheck::cli

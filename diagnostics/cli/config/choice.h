// What a user wants, looked up and checked. After Resolve no other value says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/runner.h"
#include "diagnostics/cli/config/intent.h"
#include "diagnostics/cli/config/options.h"
#include "diagnostics/cli/config/outputs.h"
#include "diagnostics/set_aside.h"

namespace dlcheck::cli {

struct Choice {
  // What is judged, and how.
  std::vector<const Check*> checks;
  std::vector<std::string> required;
  ChangedSettings settings;
  Severity fail_on = Severity::kError;
  Declarations declared;
  Exemptions exemptions;
  std::string color = "auto";
  bool partial = false;  // damaged and missing records are judged as if they were whole

  // How the program is run.
  Allowance allowance;
  std::optional<absl::Duration> timeout;  // of the plain run; none: it ends by itself
  std::optional<int64_t> seed, steps;
  std::optional<int64_t> whole_first, whole_last;  // steps that the plain run records in full
  std::string resume_command;                      // for /bin/sh; empty: the same command
  bool live = true;
  bool stop_on_error = false;  // end the program at its first live error
  bool deep_network = false;
  bool save_batch = false;
  std::optional<int64_t> samples;  // of the program's data that the report shows
  std::optional<int64_t> capture;  // steps whose batches are kept for dlcheck reference
  bool dry_run = false;
  bool exits_as_program = false;

  // What is written.
  std::vector<Output> reports;
  std::optional<std::string> write_baseline;
  bool show_skipped = false;
  bool new_only = false;
  std::string output_dir = "dlcheck-out";
  bool output_dir_is_default = true;  // nobody named the folder
};

// What command line, environment and configuration file mean together; the file's words where the
// command line has none. Errors: InvalidArgument, one line with the nearest name.
absl::StatusOr<Choice> Resolve(const Options& options);

}  // namespace dlcheck::cli

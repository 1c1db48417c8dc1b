// The options that `run`, `check` and `judge` share, from command line and configuration file.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/runner.h"
#include "diagnostics/cli/intent.h"
#include "diagnostics/cli/outputs.h"
#include "diagnostics/set_aside.h"

namespace dlcheck::cli {

// As written by the user; empty or absent where nothing was said.
struct Options {
  std::vector<std::string> select, ignore, set, required, outputs, program;
  std::optional<std::string> out, fail_on, json, baseline, write_baseline, stop_on;
  std::optional<double> time_seconds, deadline_seconds;
  std::optional<int64_t> seed, steps;
  bool deep = false;
  bool reasons = false;
  bool new_only = false;
  bool no_live = false;
  std::string exit_status = "dlcheck";
  std::string resume_command;
  bool save_batch = false;
};

// Adds the options to a command's parser.
void AddSharedOptions(CLI::App& app, Options& options);
void AddRunOptions(CLI::App& app, Options& options);

// What was meant: names looked up, settings checked, the configuration file's words where the
// command line has none.
struct Choice {
  std::vector<const Check*> checks;
  std::vector<std::string> required;
  ChangedSettings settings;
  Severity fail_on = Severity::kError;
  Allowance allowance;
  Declarations declared;
  Exemptions exemptions;
  std::vector<Output> outputs;
  bool stop_on_error = false;  // end the program at its first live error
  std::string out = "dlcheck-out";
};

// What command line, environment and configuration file mean together. Errors: InvalidArgument,
// one line with the nearest name.
absl::StatusOr<Choice> Resolve(const Options& options);

// Parses `words`; on failure or --help prints and returns the exit code. With `rest`, words that
// are no option of this command are kept there instead of being refused.
std::optional<int> Parse(CLI::App& app, std::vector<std::string> words,
                         std::vector<std::string>* rest = nullptr);

// Prints `dlcheck: MESSAGE` and returns kExitUsage.
int Refuse(const absl::Status& status);

}  // namespace dlcheck::cli

// The options that `run`, `check` and `judge` share, from command line and configuration file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "diagnostics/cli/command_line.h"

namespace dlcheck::cli {

// As written by the user; empty or absent where nothing was said.
struct Options {
  std::vector<std::string> select, ignore, set, required, reports, declared;
  std::optional<std::string> output_dir, fail_on, baseline, write_baseline, stop_on;
  std::optional<double> deep_timeout, timeout;  // seconds
  std::optional<int64_t> samples, capture, seed, steps;
  bool deep = false;
  bool deep_network = false;
  bool dry_run = false;
  bool show_skipped = false;
  bool new_only = false;
  bool partial = false;
  bool no_live = false;
  std::string exit_code = "dlcheck", color = "auto";
  std::string resume_command, record_steps;
  bool save_batch = false;
};

// Adds the options to those of a command; `options` gets their values.
void AddSharedOptions(CommandLine& line, Options& options);
void AddRunOptions(CommandLine& line, Options& options);

// Prints `dlcheck: MESSAGE` and returns kExitUsage.
int Refuse(const absl::Status& status);

}  // namespace dlcheck::cli

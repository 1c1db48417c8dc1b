// From evidence to what the user gets: the text on standard error, result.json, the exit code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "checks/engine/evidence.h"
#include "diagnostics/cli/config/choice.h"
#include "diagnostics/cli/output_folder.h"
#include "diagnostics/tried_change.h"

namespace dlcheck::cli {

struct Occasion {
  std::vector<std::string> command;  // of the subject; empty when judging again
  absl::Time started;                // by the calendar
  absl::Duration began;              // by MonotonicNow()
  bool interrupted = false;
  bool write_result = true;
  std::optional<TriedChange> tried = {};
};

// Without what the user accepted or suppressed.
Report JudgeAs(const Choice& choice, const Evidence& evidence);

// Writes result.json, series.json and report.html to `folder`, null where the run left none, and
// prints. Returns the exit code.
int Deliver(const Report& report, const Evidence& evidence, const Choice& choice,
            const OutputFolder* folder, const Occasion& occasion);

}  // namespace dlcheck::cli

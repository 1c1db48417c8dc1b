// The outcome of every selected check, what was looked at, and what was not. A value: renderers
// turn it into text or JSON, and the exit code is read off it.
#pragma once

#include <string>
#include <vector>

#include "checks/engine/check.h"

namespace dlcheck {

enum class Outcome : uint8_t {
  kPassed,
  kFailed,         // at least one finding, of any severity
  kNotApplicable,  // does not apply, or needs an experiment that was not asked for
  kNotSeen,        // the evidence was not recorded
  kOverAllowance,  // the evidence would have cost more than was allowed
  kBroken,         // the check itself failed
};

struct Result {
  const Check* check;
  Outcome outcome;
  std::string reason;  // why there is no verdict; empty where there is one
  Verdict verdict;
};

// What the plain run showed.
struct Coverage {
  int64_t steps = 0, sampled_steps = 0;
  int64_t parameters = 0, parameters_with_gradient = 0;
};

struct RunSummary {
  Experiment experiment;
  Ending ending;
  std::string missing;  // why it was not run; empty if it was
};

struct Report {
  std::vector<Result> results;
  std::vector<RunSummary> runs;
  Coverage coverage;
};

enum ExitCode : int {
  kExitClean = 0,
  kExitFindings = 1,
  kExitUsage = 2,
  kExitInternal = 3,
  kExitUndecided = 4,
  kExitNothing = 5,
  kExitInterrupted = 130,
};

std::string_view OutcomeName(Outcome outcome);

// The outcome that a status stands for, when a check reaches no verdict.
Outcome OutcomeOf(const absl::Status& status);

// Severity of the worst finding; kNote if there is none.
Severity WorstOf(const Verdict& verdict);

int Count(const Report& report, Outcome outcome);

// Several reasons at once rank: findings, then undecided, then nothing. Usage, interruption and
// internal errors outside the report are the caller's.
int ExitCodeOf(const Report& report, Severity fail_on, const std::vector<std::string>& required);

Coverage CoverageOf(const Evidence& evidence);

}  // namespace dlcheck

// The outcome of every selected check, and the coverage of the run. A value: renderers turn it into
// text or JSON, and the exit code follows from it.
#pragma once

#include <string>
#include <vector>

#include "checks/engine/check.h"
#include "checks/engine/language.h"
#include "checks/engine/processes.h"
#include "checks/engine/recording.h"
#include "checks/engine/unseen.h"

namespace dlcheck {

enum class Outcome : uint8_t {
  kPassed,
  kFailed,         // at least one finding, of any severity
  kNotApplicable,  // does not apply, or needs an experiment that was not asked for
  kNotSeen,        // the evidence was not recorded
  kOverAllowance,  // the evidence would have cost more than was allowed
  kBroken,         // the check itself failed
  kSetAside,       // all its findings were accepted before, or are suppressed
};

// A finding that does not count: the user accepted it in a baseline, or suppressed it.
struct SetAsideFinding {
  enum class How : uint8_t { kAccepted, kSuppressed };
  Finding finding;
  How how;
  std::string reason;  // of a suppression
};

struct Result {
  const Check* check;
  Outcome outcome;
  std::string reason;  // why there is no verdict; empty where there is one
  Verdict verdict;     // without those set aside
  std::vector<SetAsideFinding> set_aside = {};
};

// What the plain run showed.
struct Coverage {
  bool training = false;                 // an optimizer step or a backward call, in any run
  int64_t steps = 0, sampled_steps = 0;  // of the process with most
  bool cut = false;                      // the program may have made more steps
  int64_t parameters = 0, parameters_with_gradient = 0;
  Unseen unseen = {};
  std::vector<ProcessSummary> processes = {};  // of a run of several that trained
};

struct RunSummary {
  Experiment experiment;
  Ending ending;
  std::string missing;  // why it was not run; empty if it was
  Losses losses = {};   // of its records
};

// What became of one suppression of the user's.
struct SuppressionUse {
  enum class State : uint8_t {
    kUsed,
    kUnused,     // its checks were judged, and found nothing that it fits
    kExpired,    // its day is over: it suppresses nothing
    kNotJudged,  // none of its checks reached a verdict
  };
  std::string check, place, reason, expires;
  State state;
};

struct Report {
  std::vector<Result> results;
  std::vector<RunSummary> runs;
  Coverage coverage;
  Language language = Language::kPython;  // of the program
  Recording recording = {};
  std::vector<SuppressionUse> suppressions = {};
};

enum ExitCode : int {
  kExitClean = 0,
  kExitFindings = 1,
  kExitUsage = 2,
  kExitInternal = 3,
  kExitUndecided = 4,
  kExitNothing = 5,
  kExitDeadline = 124,  // as of `timeout`
  kExitInterrupted = 130,
};

std::string_view OutcomeName(Outcome outcome);

// "used", "unused", "expired" or "not_judged".
std::string_view StateName(SuppressionUse::State state);

// True if the check could judge: it passed, failed, or what it found is set aside.
bool HasVerdict(const Result& result);

// The outcome that a status stands for, when a check reaches no verdict.
Outcome OutcomeOf(const absl::Status& status);

// Severity of the worst finding; kNote if there is none.
Severity WorstOf(const Verdict& verdict);

int Count(const Report& report, Outcome outcome);
int CountSetAside(const Report& report, SetAsideFinding::How how);

// Several reasons at once rank: findings, then undecided, then nothing; without any training there
// was nothing to judge. Usage, interruption and internal errors outside the report are the
// caller's.
int ExitCodeOf(const Report& report, Severity fail_on, const std::vector<std::string>& required);

Coverage CoverageOf(const Evidence& evidence);

}  // namespace dlcheck

// Judges a run while it goes on, and says at once what is certain already.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "checks/observe/launcher/launcher.h"
#include "diagnostics/cli/config/choice.h"

namespace dlcheck::cli {

// Called by the thread that waits for the program. Reads the run's records again at doubling
// intervals, judges the checks whose findings no further record withdraws, and prints each error
// once. At most about 2 % of the time is spent on it.
class LiveJudge {
 public:
  LiveJudge(const Choice& choice, std::string run_folder);
  Look operator()();

 private:
  // The first error that is not said yet; null if there is none.
  const Result* Unsaid(const Report& report) const;

  const Choice& choice_;
  const std::string run_folder_;
  std::vector<const Check*> checks_;
  std::set<std::string_view> said_;  // ids of checks
  absl::Duration interval_;
};

}  // namespace dlcheck::cli

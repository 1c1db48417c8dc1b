// A verdict on the steps of each process group.
#pragma once

#include "absl/status/statusor.h"
#include "checks/engine/check.h"
#include "checks/engine/text.h"
#include "checks/signals/distributed/rank_steps.h"

namespace dlcheck {

// Calls `judge(group, verdict)` for each group. Errors: FailedPrecondition if the program uses
// join(), which lets ranks make different numbers of steps.
template <typename JudgeGroup>
absl::StatusOr<Verdict> OfEachGroup(const RankSteps& steps, JudgeGroup judge) {
  if (steps.joins) {
    return absl::FailedPreconditionError(
        "the program uses join() for ranks that end before others");
  }
  Verdict verdict;
  for (const RankSteps::Group& group : steps.groups) judge(group, verdict);
  verdict.judged = StrCat(steps.groups.front().processes.size(), " ranks");
  return verdict;
}

}  // namespace dlcheck

// A verdict on the steps of each group of processes, as checks make it that count steps.
#pragma once

#include "absl/status/statusor.h"
#include "checks/engine/check.h"
#include "checks/engine/text.h"
#include "checks/signals/rank_steps.h"

namespace dlcheck {

// Calls `judge(group, verdict)` for each group. Errors: FailedPrecondition where the program uses
// join(), by which processes may make different numbers of steps.
template <typename JudgeGroup>
absl::StatusOr<Verdict> OfEachGroup(const RankSteps& steps, JudgeGroup judge) {
  if (steps.joins) {
    return absl::FailedPreconditionError("the program lets processes join that end before others");
  }
  Verdict verdict;
  for (const RankSteps::Group& group : steps.groups) judge(group, verdict);
  verdict.judged = StrCat(steps.groups.front().processes.size(), " processes");
  return verdict;
}

}  // namespace dlcheck

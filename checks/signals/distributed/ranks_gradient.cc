#include "checks/signals/distributed/ranks_gradient.h"

#include <string>

#include "absl/strings/numbers.h"

namespace dlcheck {

absl::StatusOr<RanksGradient> RanksGradient::From(const Run& run) {
  for (const ThingId thing : run.trace.ThingsWith(Quantity::kRanksRatio)) {
    const Sample& sample = run.trace.Series(Quantity::kRanksRatio, thing).front();
    RanksGradient found{.ratio = sample.value, .rest = sample.aux};
    const std::string ranks(run.trace.ProcessAttribute("ranks"));
    const std::string different(run.trace.ProcessAttribute("different_gradients"));
    if (absl::SimpleAtoi(ranks, &found.ranks) && absl::SimpleAtoi(different, &found.different)) {
      return found;
    }
  }
  return absl::NotFoundError(
      "the gradients of several ranks and of a single process were not compared");
}

}  // namespace dlcheck

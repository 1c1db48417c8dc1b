#include "checks/signals/distributed/rates_by_rank.h"

namespace dlcheck {

absl::StatusOr<RatesByRank> RatesByRank::From(const Run& run) {
  RatesByRank rates;
  bool any = false;
  for (const ThingId group : run.trace.ThingsWith(Quantity::kLearningRate)) {
    std::map<int64_t, const Sample*> firsts;
    Difference difference;
    for (const Sample& sample : run.trace.Series(Quantity::kLearningRate, group)) {
      any = true;
      const Sample& first = *firsts.emplace(sample.step, &sample).first->second;
      const bool differs = first.rank != sample.rank && first.value != sample.value;
      if (!differs || (difference.step >= 0 && difference.step <= sample.step)) continue;
      difference = {.step = sample.step,
                    .first = first.value,
                    .other = sample.value,
                    .first_rank = first.rank,
                    .other_rank = sample.rank};
    }
    if (difference.step >= 0) rates.groups[run.trace.thing(group).name] = difference;
  }
  if (!any) return absl::NotFoundError("no learning rate was observed");
  return rates;
}

}  // namespace dlcheck

#include "checks/signals/data/shuffled_losses.h"

#include <cmath>
#include <vector>

namespace dlcheck {
namespace {

constexpr size_t kFewest = 16;  // losses of one function

}  // namespace

absl::StatusOr<ShuffledLosses> ShuffledLosses::From(const Run& run) {
  for (const ThingId thing : run.trace.ThingsWith(Quantity::kShuffledLoss)) {
    const auto& series = run.trace.Series(Quantity::kShuffledLoss, thing);
    if (series.size() < kFewest) continue;
    const std::vector<Sample> late(series.begin() + static_cast<int64_t>(series.size() / 2),
                                   series.end());
    const auto count = static_cast<double>(late.size());
    ShuffledLosses found{.losses = static_cast<int64_t>(late.size()),
                         .first_step = late.front().step,
                         .last_step = late.back().step};
    double squares = 0;
    for (const Sample& sample : late) {
      found.loss += sample.value / count;
      found.floor += sample.aux / count;
    }
    for (const Sample& sample : late) {
      const double from_mean = sample.value - sample.aux - (found.loss - found.floor);
      squares += from_mean * from_mean;
    }
    found.error = std::sqrt(squares / (count - 1) / count);
    return found;
  }
  return absl::NotFoundError("too few losses were observed in the run with permuted labels");
}

}  // namespace dlcheck

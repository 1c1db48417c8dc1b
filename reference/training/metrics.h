// What is decided from the evaluations of a run: when it stops early, and which checkpoint is best.
// Pure functions of the table, so that a resumed run, or somebody who reads the log, decides alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dlcheck::reference {

struct Evaluation {
  int64_t step;     // steps that were done
  double loss;      // mean over the validation split; lower is better
  double accuracy;  // fraction of targets
};
using MetricTable = std::vector<Evaluation>;

struct Patience {
  // kReached: as Lightning, the run stops at the evaluation at which the misses in a row reach
  // `evaluations`, and at one whose loss is not finite. kExceeded: as Composer, one miss later,
  // and a loss that is not finite is a miss like any other.
  enum class Rule : uint8_t { kReached, kExceeded };
  int64_t evaluations;  // 0: never stops
  double min_delta;     // a loss improves if it lies below the best by more than this
  Rule rule;
};

// True if a run with this table would have stopped at its last evaluation.
bool StopsEarly(const MetricTable& table, const Patience& patience);

// What ReduceLROnPlateau does, with a threshold that is relative.
struct Plateau {
  double factor;     // of the rate, at each reduction
  int64_t patience;  // evaluations without improvement that are let pass
  double threshold;  // a loss improves if it lies below the best by more than this share of it
  int64_t cooldown;  // evaluations after a reduction in which none counts as without improvement
};

// The factor of the learning rate after the evaluations of this table. A loss that is not finite is
// no improvement. Source: torch.optim.lr_scheduler.ReduceLROnPlateau, mode "min".
double PlateauFactor(const MetricTable& table, const Plateau& plateau);

// The table with the mean loss of `window` evaluations in a row at the step of the last of them;
// without those that end no whole window.
MetricTable Smoothed(const MetricTable& table, int64_t window);

// The steps of the `count` lowest losses, ascending by loss, the earliest of equals first; those
// that are not finite never count.
std::vector<int64_t> BestSteps(const MetricTable& table, int64_t count);

}  // namespace dlcheck::reference

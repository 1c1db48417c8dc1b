// Batches that depend on nothing but (seed, epoch, step, rank, world): the same step gives the same
// batch whatever was taken before, so the cursor of a run is its step alone.
//
// An epoch is one order of all rows, random or, for a source that is read by windows, quasi-random.
// It is cut into micro-batches; `accumulate` of them are the window of one optimizer step. Letters:
// N rows of the source.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "reference/data/augmentation.h"
#include "reference/data/objective.h"
#include "reference/data/source.h"

namespace dlcheck::reference {

class Batches {
 public:
  struct Options {
    int64_t batch_size = 64;  // samples of a micro-batch, of all ranks together
    int64_t accumulate = 1;   // micro-batches of a step
    // What is left at the end of an epoch, less than a micro-batch or than a window of them: used
    // as it is, or not in this epoch. Rows too few to give every rank one are never used.
    bool keep_last = false;
    bool shuffle = true;  // else the order of the source, in every epoch
    uint64_t seed = 0;
    int64_t rank = 0;
    int64_t world = 1;
    // Each sample is mixed with the next one of the global micro-batch, the last with the first.
    Augmentation::Options augmentation = {};
    Objective objective = Objective::kSupervised;
  };

  // `window` counts the steps of the epoch, `micro` the micro-batches of the window.
  struct Place {
    int64_t epoch, window, micro;
    bool operator==(const Place& other) const = default;
  };

  // Errors: UsageError if an epoch is less than one step, and for sizes below 1 or a rank outside
  // the world.
  Batches(std::shared_ptr<const Source> source, const Options& options);

  int64_t steps_an_epoch() const { return steps_an_epoch_; }

  // Micro-batches of this step: `accumulate`, or fewer in the last window of an epoch.
  int64_t MicroBatches(int64_t step) const;

  // REQUIRES: 0 <= micro < MicroBatches(step), here and below.
  Place PlaceOf(int64_t step, int64_t micro) const;

  // The micro-batch of this rank: of the global one, which is batch_size rows in a stretch of the
  // epoch's order, every world-th from the rank-th on. So the global batch is the same for every
  // split of it among ranks. Threads may call it at once.
  // Cost: a new order once an epoch, else what the source takes for the rows.
  Batch At(int64_t step, int64_t micro = 0) const;

  // What an evaluation makes of these rows of a source: the task of the objective, unchanged at
  // each time, without augmentation beside that.
  Batch ForEvaluation(const Batch& batch, const std::vector<int64_t>& rows) const;

  // The rows of the source that At takes, or so many places after them in the global micro-batch.
  std::vector<int64_t> RowsOf(int64_t step, int64_t micro, int64_t after = 0) const;

 private:
  using Order = std::vector<int64_t>;
  std::shared_ptr<const Order> OrderOf(int64_t epoch) const;
  Batch Augmented(int64_t step, int64_t micro, const std::vector<int64_t>& rows) const;

  std::shared_ptr<const Source> source_;
  Options options_;
  Augmentation augmentation_;
  int64_t used_rows_;  // of an epoch, by all ranks
  int64_t micros_an_epoch_;
  int64_t steps_an_epoch_;
  std::vector<int64_t> window_ends_;  // of the source

  mutable std::mutex mutex_;
  mutable int64_t epoch_ = -1;  // that order_ is of
  mutable std::shared_ptr<const Order> order_;
};

// A random order of `rows` rows. Fisher and Yates's shuffle over splitmix64.
std::vector<int64_t> EpochOrder(int64_t rows, uint64_t seed, int64_t epoch);

// A quasi-random one for rows that are read by windows, as of Source::WindowEnds: the windows in a
// random order, and the rows of each kWindowsTogether of them in a random order among themselves.
std::vector<int64_t> WindowedOrder(const std::vector<int64_t>& window_ends, uint64_t seed,
                                   int64_t epoch);

}  // namespace dlcheck::reference

#include "reference/data/batches.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "checks/records/digest.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

int64_t CeilingOf(int64_t dividend, int64_t divisor) { return (dividend + divisor - 1) / divisor; }

void NeedSense(const Batches::Options& options) {
  if (options.batch_size < 1 || options.accumulate < 1 || options.world < 1) {
    throw UsageError("batch-size, accumulate and the number of ranks are 1 or more");
  }
  if (options.batch_size < options.world) {
    throw UsageError("batch-size is " + std::to_string(options.batch_size) + ", less than the " +
                     std::to_string(options.world) + " ranks that share each batch");
  }
  if (options.rank < 0 || options.rank >= options.world) {
    throw UsageError("rank " + std::to_string(options.rank) + " is not in a world of " +
                     std::to_string(options.world));
  }
}

uint64_t StreamOf(uint64_t seed, int64_t epoch) {
  return SplitMix64(SplitMix64(seed) + static_cast<uint64_t>(epoch));
}

// Shuffles `order` from `begin` on.
void Shuffle(uint64_t stream, std::vector<int64_t>& order, size_t begin) {
  for (size_t i = order.size() - begin; i > 1; --i) {
    std::swap(order[begin + i - 1], order[begin + SplitMix64(stream + i) % i]);
  }
}

}  // namespace

Batches::Batches(std::shared_ptr<const Source> source, const Options& options)
    : source_(std::move(source)), options_(options), augmentation_(options.augmentation) {
  NeedSense(options);
  window_ends_ = source_->WindowEnds();
  const int64_t rows = source_->rows();
  const bool keeps_rest = options.keep_last && rows % options.batch_size >= options.world;
  micros_an_epoch_ = rows / options.batch_size + (keeps_rest ? 1 : 0);
  used_rows_ = keeps_rest ? rows : rows / options.batch_size * options.batch_size;
  steps_an_epoch_ = options.keep_last ? CeilingOf(micros_an_epoch_, options.accumulate)
                                      : micros_an_epoch_ / options.accumulate;
  if (steps_an_epoch_ < 1) {
    throw UsageError("batch-size is " + std::to_string(options.batch_size) + ", with accumulate " +
                     std::to_string(options.accumulate) + " more than the " + std::to_string(rows) +
                     " training samples");
  }
}

int64_t Batches::MicroBatches(int64_t step) const {
  const int64_t before = step % steps_an_epoch_ * options_.accumulate;
  return std::min(options_.accumulate, micros_an_epoch_ - before);
}

Batches::Place Batches::PlaceOf(int64_t step, int64_t micro) const {
  return {step / steps_an_epoch_, step % steps_an_epoch_, micro};
}

std::vector<int64_t> Batches::RowsOf(int64_t step, int64_t micro, int64_t after) const {
  const Place place = PlaceOf(step, micro);
  const std::shared_ptr<const Order> order = OrderOf(place.epoch);
  const int64_t first = (place.window * options_.accumulate + place.micro) * options_.batch_size;
  const int64_t last = std::min(first + options_.batch_size, used_rows_);
  std::vector<int64_t> rows;
  rows.reserve(static_cast<size_t>(CeilingOf(options_.batch_size, options_.world)));
  for (int64_t i = first + options_.rank; i < last; i += options_.world) {
    rows.push_back((*order)[static_cast<size_t>(first + (i - first + after) % (last - first))]);
  }
  return rows;
}

Batch Batches::Augmented(int64_t step, int64_t micro, const std::vector<int64_t>& rows) const {
  if (!augmentation_.changes()) return source_->Take(rows);
  const int64_t epoch = PlaceOf(step, micro).epoch;
  const Batch batch = augmentation_.Changed(source_->Take(rows), rows, epoch);
  if (!augmentation_.mixes()) return batch;
  const std::vector<int64_t> next = RowsOf(step, micro, 1);
  const Batch others = augmentation_.Changed(source_->Take(next), next, epoch);
  return augmentation_.Mixed(batch, others, rows, epoch);
}

Batch Batches::At(int64_t step, int64_t micro) const {
  const std::vector<int64_t> rows = RowsOf(step, micro);
  const int64_t epoch = PlaceOf(step, micro).epoch;
  switch (options_.objective) {
    case Objective::kSupervised:
      break;
    case Objective::kContrastive:
      return TwoViews(augmentation_, source_->Take(rows), rows, epoch);
    case Objective::kDiffusion:
      return Noised(Augmented(step, micro, rows), rows, options_.augmentation.seed, epoch);
  }
  return Augmented(step, micro, rows);
}

Batch Batches::ForEvaluation(const Batch& batch, const std::vector<int64_t>& rows) const {
  switch (options_.objective) {
    case Objective::kSupervised:
      break;
    case Objective::kContrastive:
      return TwoViews(augmentation_, batch, rows, kEvaluationEpoch);
    case Objective::kDiffusion:
      return Noised(batch, rows, options_.augmentation.seed, kEvaluationEpoch);
  }
  return batch;
}

std::shared_ptr<const Batches::Order> Batches::OrderOf(int64_t epoch) const {
  const std::lock_guard lock(mutex_);
  if (order_ == nullptr || (options_.shuffle && epoch != epoch_)) {
    Order order(static_cast<size_t>(source_->rows()));
    if (options_.shuffle && !window_ends_.empty()) {
      order = WindowedOrder(window_ends_, options_.seed, epoch);
    } else if (options_.shuffle) {
      order = EpochOrder(source_->rows(), options_.seed, epoch);
    } else {
      std::iota(order.begin(), order.end(), int64_t{0});
    }
    order_ = std::make_shared<const Order>(std::move(order));
    epoch_ = epoch;
  }
  return order_;
}

std::vector<int64_t> EpochOrder(int64_t rows, uint64_t seed, int64_t epoch) {
  std::vector<int64_t> order(static_cast<size_t>(rows));
  std::iota(order.begin(), order.end(), int64_t{0});
  Shuffle(StreamOf(seed, epoch), order, 0);
  return order;
}

std::vector<int64_t> WindowedOrder(const std::vector<int64_t>& window_ends, uint64_t seed,
                                   int64_t epoch) {
  const std::vector<int64_t> windows =
      EpochOrder(static_cast<int64_t>(window_ends.size()), seed, epoch);
  const uint64_t groups = SplitMix64(StreamOf(seed, epoch));
  std::vector<int64_t> order;
  for (size_t i = 0; i < windows.size();) {
    const size_t begin = order.size();
    const size_t group_end = std::min(i + static_cast<size_t>(kWindowsTogether), windows.size());
    for (; i < group_end; ++i) {
      const auto window = static_cast<size_t>(windows[i]);
      const int64_t first = window == 0 ? 0 : window_ends[window - 1];
      for (int64_t row = first; row < window_ends[window]; ++row) order.push_back(row);
    }
    Shuffle(SplitMix64(groups + i), order, begin);
  }
  return order;
}

}  // namespace dlcheck::reference

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
  if (options.rank < 0 || options.rank >= options.world) {
    throw UsageError("rank " + std::to_string(options.rank) + " is not in a world of " +
                     std::to_string(options.world));
  }
}

}  // namespace

Batches::Batches(std::shared_ptr<const Source> source, const Options& options)
    : source_(std::move(source)), options_(options) {
  NeedSense(options);
  const int64_t rows = source_->rows();
  const int64_t global = options.batch_size * options.world;
  const bool keeps_rest = options.keep_last && rows % global >= options.world;
  micros_an_epoch_ = rows / global + (keeps_rest ? 1 : 0);
  used_rows_ = keeps_rest ? rows : rows / global * global;
  steps_an_epoch_ = options.keep_last ? CeilingOf(micros_an_epoch_, options.accumulate)
                                      : micros_an_epoch_ / options.accumulate;
  if (steps_an_epoch_ < 1) {
    throw UsageError("batch-size is " + std::to_string(options.batch_size) + ", with accumulate " +
                     std::to_string(options.accumulate) + " and " + std::to_string(options.world) +
                     " ranks more than the " + std::to_string(rows) + " training samples");
  }
}

int64_t Batches::MicroBatches(int64_t step) const {
  const int64_t before = step % steps_an_epoch_ * options_.accumulate;
  return std::min(options_.accumulate, micros_an_epoch_ - before);
}

Batches::Place Batches::PlaceOf(int64_t step, int64_t micro) const {
  return {step / steps_an_epoch_, step % steps_an_epoch_, micro};
}

std::vector<int64_t> Batches::RowsOf(int64_t step, int64_t micro) const {
  const Place place = PlaceOf(step, micro);
  const std::shared_ptr<const Order> order = OrderOf(place.epoch);
  const int64_t global = options_.batch_size * options_.world;
  const int64_t first = (place.window * options_.accumulate + place.micro) * global;
  const int64_t last = std::min(first + global, used_rows_);
  std::vector<int64_t> rows;
  for (int64_t i = first + options_.rank; i < last; i += options_.world) {
    rows.push_back((*order)[static_cast<size_t>(i)]);
  }
  return rows;
}

Batch Batches::At(int64_t step, int64_t micro) const { return source_->Take(RowsOf(step, micro)); }

std::shared_ptr<const Batches::Order> Batches::OrderOf(int64_t epoch) const {
  const std::lock_guard lock(mutex_);
  if (order_ == nullptr || (options_.shuffle && epoch != epoch_)) {
    Order order(static_cast<size_t>(source_->rows()));
    if (options_.shuffle) {
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
  const uint64_t stream = SplitMix64(SplitMix64(seed) + static_cast<uint64_t>(epoch));
  for (size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[SplitMix64(stream + i) % i]);
  }
  return order;
}

}  // namespace dlcheck::reference

#include "checks/observe/preload/batches/repeated_samples.h"

#include <algorithm>

namespace dlcheck {
namespace {

constexpr size_t kFewestSamples = 32, kMostSamplesMet = size_t{1} << 20;
constexpr size_t kMostBatchesAgain = 4;

}  // namespace

void RepeatedSamples::Enters(const std::vector<uint64_t>& rows,
                             const std::optional<ChosenBatch>& batch) {
  if (is_over_ || !batch || batch->samples == 0) return;
  if (loader_ < 0) loader_ = batch->loader;
  if (batch->loader != loader_) return;
  is_over_ = batch->pass != 1 || met_.size() >= kMostSamplesMet;
  if (is_over_ || rows.empty() || rows.size() != batch->size) return;
  if (std::find(latest_.begin(), latest_.end(), rows) != latest_.end()) return;
  latest_.push_back(rows);
  if (latest_.size() > kMostBatchesAgain) latest_.pop_front();
  rows_ += rows.size();
  met_.insert(rows.begin(), rows.end());
}

void RepeatedSamples::StepEnds(ProbeRecorder& recorder) {
  const size_t repeated = rows_ - met_.size();
  if (is_over_ || rows_ < kFewestSamples || repeated < 2 * told_ + 1) return;
  told_ = repeated;
  ProbeClock& clock = recorder.clock();
  clock.Put(Quantity::kRepeatedSamples, {clock.writer().Thing("batch", 0, "input")},
            static_cast<double>(repeated), static_cast<double>(rows_));
}

}  // namespace dlcheck

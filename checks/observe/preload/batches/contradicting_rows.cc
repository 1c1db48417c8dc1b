#include "checks/observe/preload/batches/contradicting_rows.h"

namespace dlcheck {
namespace {

constexpr size_t kMostRowsWithTargets = size_t{1} << 16;

}  // namespace

bool ContradictingRows::is_over() const { return known_ >= kMostRowsWithTargets; }

// A mixture of samples has a further loss, with the targets of the others. The targets of scores of
// pairs are places in the batch.
void ContradictingRows::Given(const LossGiven& loss) {
  if (rows_.empty() || is_over() || !loss.HasOneClassEach() || !IsAtHand(loss.targets)) return;
  if (loss.outputs.size(0) == loss.outputs.size(1)) return;
  if (loss.targets.size(0) != static_cast<int64_t>(rows_.size())) return;
  const Task task(loss.thing, loss.outputs.size(1));
  std::unordered_map<uint64_t, int64_t>& targets = targets_[task];
  const at::Tensor classes = loss.targets.detach().to(at::kLong).contiguous();
  const auto* next = classes.data_ptr<int64_t>();
  for (const uint64_t row : rows_) {
    const auto [known, is_new] = targets.try_emplace(row, *next);
    known_ += is_new ? 1 : 0;
    if (known->second != *next) differing_.insert({task, row});
    ++next;
  }
  rows_.clear();
}

void ContradictingRows::StepEnds(ProbeRecorder& recorder) {
  rows_.clear();
  if (differing_.size() < 2 * told_ + 1) return;
  told_ = differing_.size();
  ProbeClock& clock = recorder.clock();
  clock.Put(Quantity::kContradictingRows, {clock.writer().Thing("batch", 0, "input")},
            static_cast<double>(told_), static_cast<double>(known_));
}

}  // namespace dlcheck

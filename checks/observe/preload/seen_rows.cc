#include "checks/observe/preload/seen_rows.h"

#include <utility>

#include "checks/observe/preload/batches/row_digests.h"
#include "checks/records/digest.h"

namespace dlcheck {
namespace {

constexpr size_t kMostSeenRows = size_t{1} << 20;

}  // namespace

void SeenRows::Trained(const at::Tensor& input) {
  if (trained_.size() >= kMostSeenRows) return;
  for (const uint64_t digest : RowDigests(input)) trained_.insert(digest);
}

void SeenRows::Evaluated(const at::Tensor& input) {
  if (evaluated_.size() >= kMostSeenRows) return;
  for (const uint64_t digest : RowDigests(input)) {
    if (!evaluated_.insert(digest).second) ++repeated_;
    digest_ = SplitMix64(digest_ ^ digest);
  }
}

SeenRows::Evaluation SeenRows::EvaluationEnds(uint32_t model, ProbeRecorder& recorder) {
  Evaluation found = {std::exchange(evaluated_, {})};
  const std::unordered_set<uint64_t>& rows = found.rows;
  const int64_t repeated = std::exchange(repeated_, 0);
  const uint64_t digest = std::exchange(digest_, 0);
  if (rows.empty() || !recorder.clock().records_evaluation()) return found;
  int64_t known = 0;
  for (const uint64_t row : rows) known += static_cast<int64_t>(trained_.count(row));
  const auto different = static_cast<double>(rows.size());
  ProbeClock& clock = recorder.clock();
  clock.Put(Quantity::kRepeatedRows, {model}, static_cast<double>(repeated),
            different + static_cast<double>(repeated));
  clock.Put(Quantity::kTrainedRows, {model}, static_cast<double>(known), different);
  clock.PutDigest(Quantity::kEvaluationFingerprint, {model}, digest);
  found.is_new = known == 0 && !trained_.empty();
  return found;
}

}  // namespace dlcheck

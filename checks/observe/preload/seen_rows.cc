#include "checks/observe/preload/seen_rows.h"

#include <utility>
#include <vector>

#include "checks/records/digest.h"

namespace dlcheck {
namespace {

constexpr int64_t kMostRowsOfBatch = 256;
constexpr size_t kMostSeenRows = size_t{1} << 20;
constexpr int64_t kMostRowBytes = int64_t{1} << 26;  // of a batch

// One of each row; none of what cannot be read here.
std::vector<uint64_t> RowDigests(const at::Tensor& input) {
  if (!input.device().is_cpu() || input.layout() != at::kStrided || input.dim() == 0 ||
      input.size(0) == 0 || input.size(0) > kMostRowsOfBatch ||
      static_cast<int64_t>(input.nbytes()) > kMostRowBytes) {
    return {};
  }
  const at::Tensor rows = input.detach().contiguous();
  const size_t size = rows.nbytes() / static_cast<size_t>(rows.size(0));
  const auto* bytes = static_cast<const char*>(rows.data_ptr());
  std::vector<uint64_t> digests;
  for (int64_t i = 0; i < rows.size(0); ++i) {
    digests.push_back(Digest(bytes + static_cast<size_t>(i) * size, size));
  }
  return digests;
}

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

void SeenRows::EvaluationEnds(uint32_t model, ProbeRecorder& recorder) {
  const std::unordered_set<uint64_t> rows = std::exchange(evaluated_, {});
  const int64_t repeated = std::exchange(repeated_, 0);
  const uint64_t digest = std::exchange(digest_, 0);
  if (rows.empty() || !recorder.clock().records_evaluation()) return;
  int64_t known = 0;
  for (const uint64_t row : rows) known += static_cast<int64_t>(trained_.count(row));
  const auto different = static_cast<double>(rows.size());
  ProbeClock& clock = recorder.clock();
  clock.Put(Quantity::kRepeatedRows, {model}, static_cast<double>(repeated),
            different + static_cast<double>(repeated));
  clock.Put(Quantity::kTrainedRows, {model}, static_cast<double>(known), different);
  clock.PutDigest(Quantity::kEvaluationFingerprint, {model}, digest);
}

}  // namespace dlcheck

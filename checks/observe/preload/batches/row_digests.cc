#include "checks/observe/preload/batches/row_digests.h"

#include <algorithm>

#include "checks/observe/preload/losses/loss_given.h"
#include "checks/records/digest.h"

namespace dlcheck {
namespace {

constexpr int64_t kMostRowsOfBatch = 256;
constexpr int64_t kMostRowBytes = int64_t{1} << 26;  // of a batch
constexpr int64_t kFewestEntriesOfRow = 8;
constexpr double kLeastFractions = 0.5;
constexpr int64_t kMostFractionsRead = 1 << 16;

bool HasReadableRows(const at::Tensor& batch) {
  return IsAtHand(batch) && batch.dim() > 0 && batch.size(0) > 0 &&
         batch.size(0) <= kMostRowsOfBatch && static_cast<int64_t>(batch.nbytes()) <= kMostRowBytes;
}

}  // namespace

std::vector<uint64_t> RowDigests(const at::Tensor& batch) {
  if (!HasReadableRows(batch)) return {};
  const at::Tensor rows = batch.detach().contiguous();
  const size_t size = rows.nbytes() / static_cast<size_t>(rows.size(0));
  const auto* bytes = static_cast<const char*>(rows.data_ptr());
  std::vector<uint64_t> digests;
  for (int64_t i = 0; i < rows.size(0); ++i) {
    digests.push_back(Digest(bytes + static_cast<size_t>(i) * size, size));
  }
  return digests;
}

bool HasFractions(const at::Tensor& batch) {
  if (!HasReadableRows(batch) || batch.dim() < 2 || !batch.is_floating_point()) return false;
  if (batch.numel() / batch.size(0) < kFewestEntriesOfRow) return false;
  const at::Tensor flat = batch.detach().reshape({-1});
  const at::Tensor values = flat.narrow(0, 0, std::min(flat.numel(), kMostFractionsRead));
  return values.ne(values.round()).to(at::kDouble).mean().item<double>() >= kLeastFractions;
}

}  // namespace dlcheck

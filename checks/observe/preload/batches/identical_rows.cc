#include "checks/observe/preload/batches/identical_rows.h"

#include <utility>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/preload/losses/loss_given.h"

namespace dlcheck {
namespace {

constexpr int kFewestEqualBatches = 6;
constexpr size_t kMostKindsOfBatches = 16;
constexpr int64_t kFewestEqualRows = 8, kFewestColumns = 2, kMostElementsOfBatch = 1 << 20;

bool HasEqualRowsOnly(const at::Tensor& rows) {
  const at::Tensor first = rows.narrow(0, 0, 1);
  return rows.narrow(0, 1, 1).equal(first) && rows.eq(first).all().item<bool>();
}

bool IsLookedAt(const at::Tensor& input) {
  return IsAtHand(input) && input.is_floating_point() && input.numel() <= kMostElementsOfBatch &&
         input.numel() / input.size(0) >= kFewestColumns;
}

}  // namespace

// What was found is told with the next batch: the pass may be given more first.
void IdenticalRows::Enters(const at::Tensor& input, bool trains, ProbeRecorder& recorder) {
  open_ = nullptr;
  if (input.dim() < 2 || input.size(0) < kFewestEqualRows || input.requires_grad()) return;
  std::vector<int64_t> look = input.sizes().vec();
  look.front() = trains ? 1 : 0;
  if (kinds_.size() >= kMostKindsOfBatches && kinds_.count(look) == 0) return;
  Kind& kind = kinds_[look];
  if (kind.is_settled) return;
  if (kind.batches >= kFewestEqualBatches) {
    kind.is_settled = true;
    ProbeClock& clock = recorder.clock();
    clock.Put(Quantity::kIdenticalRows,
              {clock.writer().Thing("batch", 0, "input"), 0, recorder.Site(CallSite())},
              static_cast<double>(rows_), static_cast<double>(kind.batches));
    return;
  }
  const at::Tensor rows = input.detach();
  kind.is_settled = !IsLookedAt(input) || !HasEqualRowsOnly(rows);
  if (kind.is_settled) return;
  const at::Tensor row = rows[0].reshape({-1});
  kind.is_settled =
      row.eq(row[0]).all().item<bool>() || (kind.row.defined() && kind.row.equal(row));
  if (kind.is_settled) return;
  kind.row = row.clone();
  ++kind.batches;
  open_ = &kind;
  rows_ = input.size(0);
}

void IdenticalRows::GivenToo(const at::Tensor& given) {
  if (!IsAtHand(given) || given.dim() == 0 || given.size(0) != rows_) return;
  if (given.eq(given.narrow(0, 0, 1)).all().item<bool>()) return;
  std::exchange(open_, nullptr)->is_settled = true;
}

}  // namespace dlcheck

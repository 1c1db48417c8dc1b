#include "checks/observe/preload/batches/same_rows.h"

#include <string_view>

#include "checks/observe/preload/batches/row_digests.h"
#include "checks/observe/preload/call_sites.h"
#include "checks/observe/preload/given_tensors.h"

namespace dlcheck {
namespace {

constexpr size_t kStepsOfSameRows = 16;

}  // namespace

bool SameRows::Is(const at::RecordFunction& function) const {
  const std::string_view name = function.name();
  return !is_done_ && (name == "aten::index_select" || name == "aten::index");
}

void SameRows::Begins(const at::RecordFunction& function) {
  const at::Tensor source = TensorGiven(function, 0);
  const bool is_data = source.defined() && source.dim() > 0 && !source.requires_grad();
  source_rows_ = is_data ? source.size(0) : 0;
}

// At least twice as many rows: a split into parts is no draw.
void SameRows::Returned(const at::RecordFunction& function) {
  const at::Tensor drawn = OnlyResult(function);
  if (!drawn.defined() || drawn.dim() == 0 || source_rows_ < 2 * drawn.size(0)) return;
  if (drawn.dim() < 2 && !drawn.is_floating_point()) return;  // targets
  drawn_ = Weak(drawn.getIntrusivePtr());
  drawn_from_ = source_rows_;
}

void SameRows::Enters(const at::Tensor& input, ProbeRecorder& recorder) {
  if (is_done_) return;
  const auto drawn = drawn_.lock();
  drawn_.reset();  // each step draws anew: one part for all of training is no draw
  const std::vector<uint64_t> rows =
      drawn.get() == input.unsafeGetTensorImpl() ? RowDigests(input) : std::vector<uint64_t>();
  is_done_ = rows.empty() || (!rows_.empty() && rows != rows_);
  if (is_done_) return;
  rows_ = rows;
  steps_.insert(recorder.clock().step());
  if (steps_.size() < kStepsOfSameRows) return;
  is_done_ = true;
  ProbeClock& clock = recorder.clock();
  clock.Put(Quantity::kSameRows,
            {clock.writer().Thing("batch", 0, "input"), 0, recorder.Site(CallSite())},
            static_cast<double>(drawn_from_), static_cast<double>(rows.size()));
}

}  // namespace dlcheck

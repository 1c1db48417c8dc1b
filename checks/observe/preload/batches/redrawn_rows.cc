#include "checks/observe/preload/batches/redrawn_rows.h"

#include <utility>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/probe/tensor_summary.h"

namespace dlcheck {
namespace {

constexpr int64_t kMostTargetsCompared = 1 << 16;

// How many of these are none of the others.
size_t CountOthers(const std::unordered_set<uint64_t>& rows,
                   const std::unordered_set<uint64_t>& others) {
  size_t count = 0;
  for (const uint64_t row : rows) count += others.count(row) == 0 ? 1 : 0;
  return count;
}

}  // namespace

void RedrawnRows::Enters(const std::optional<ChosenBatch>& batch) {
  now_.is_in_order = now_.is_in_order && batch && !batch->is_random && batch->samples > 0;
  if (now_.is_in_order && !now_.samples) now_.samples = batch->digest;
}

void RedrawnRows::Evaluated(const LossGiven& loss) {
  if (now_.targets || !now_.is_in_order || !IsAtHand(loss.targets)) return;
  if (loss.targets.numel() > kMostTargetsCompared) return;
  now_.targets = DigestTensors({loss.targets.detach()});
}

// Whether most rows of one are none of the other, though both are of the same places of a data set,
// and have the same targets.
bool RedrawnRows::AreOthers(const Evaluation& now, const Evaluation& before) {
  const bool are_alike = now.is_in_order && before.is_in_order && now.samples && now.targets &&
                         now.samples == before.samples && now.targets == before.targets;
  if (!are_alike || now.rows.size() != before.rows.size()) return false;
  return 2 * CountOthers(now.rows, before.rows) >= now.rows.size() && !now.rows.empty();
}

// Two data sets of one size, in the order of their classes, may take turns: the last but one is
// compared, too.
void RedrawnRows::EvaluationEnds(uint32_t model, const std::unordered_set<uint64_t>& rows,
                                 ProbeRecorder& recorder) {
  now_.rows = rows;
  if (AreOthers(now_, before_) && AreOthers(now_, earlier_)) {
    recorder.clock().Put(Quantity::kRedrawnRows, {model, 0, recorder.Site(CallSite())},
                         static_cast<double>(CountOthers(now_.rows, before_.rows)),
                         static_cast<double>(rows.size()));
  }
  earlier_ = std::exchange(before_, std::exchange(now_, Evaluation()));
}

}  // namespace dlcheck

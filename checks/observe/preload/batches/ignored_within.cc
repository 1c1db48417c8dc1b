#include "checks/observe/preload/batches/ignored_within.h"

#include <algorithm>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/probe/loss_inputs.h"

namespace dlcheck {
namespace {

constexpr int kCallsOfIgnored = 8;
constexpr double kFewestWithin = 16, kLeastShareWithin = 0.02;

// Of targets (rows, positions): those that are ignored, and stand between two that are not.
double CountWithin(const at::Tensor& rows) {
  const at::Tensor counted = rows.ge(0).to(at::kLong);
  const at::Tensor before = counted.cumsum(1).gt(0);
  const at::Tensor after = counted.flip(1).cumsum(1).flip(1).gt(0);
  return before.logical_and(after).logical_and(counted.eq(0)).sum().item<double>();
}

}  // namespace

void IgnoredWithin::Given(const LossGiven& loss, const std::vector<at::Tensor>& words,
                          ProbeRecorder& recorder) {
  if (calls_ >= kCallsOfIgnored || !loss.TakesClasses() || loss.ignored < 0) return;
  if (!IsAtHand(loss.targets) || loss.targets.is_floating_point()) return;
  for (const at::Tensor& tokens : words) {
    if (ShiftOf(tokens, loss.targets) != 1) continue;
    all_ += static_cast<double>(loss.targets.numel());
    within_ += CountWithin(loss.targets.detach().reshape({tokens.size(0), -1}));
    const bool is_enough = within_ >= std::max(kFewestWithin, kLeastShareWithin * all_);
    if (++calls_ < kCallsOfIgnored || !is_enough) return;
    recorder.clock().Put(Quantity::kIgnoredWithin, {loss.thing, 0, recorder.Site(CallSite())},
                         within_, static_cast<double>(loss.ignored));
    return;
  }
}

}  // namespace dlcheck

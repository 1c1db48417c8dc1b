#include "checks/observe/preload/batches/reordered_tokens.h"

#include <algorithm>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/probe/loss_inputs.h"

namespace dlcheck {
namespace {

constexpr int kStepsReordered = 6;
constexpr double kLeastMisplaced = 0.5;  // share of the rows, or of the targets
constexpr int64_t kFewestReordered = 4, kMostReordered = 1 << 16;  // rows, targets

// Whether the rows of one are those of the other, which differ from each other, in another order.
bool AreRowsOf(const at::Tensor& rows, const at::Tensor& others) {
  const int64_t count = others.size(0);
  const auto [unique, numbers, unused] =
      at::unique_dim(at::cat({others, rows}), 0, /*sorted=*/true, /*return_inverse=*/true);
  const auto different = [](const at::Tensor& some) {
    return std::get<0>(at::_unique2(some)).numel();
  };
  return unique.size(0) == count && different(numbers.narrow(0, 0, count)) == count &&
         different(numbers.narrow(0, count, count)) == count;
}

// Whether flat targets were moved on by one: each is the token at its own position then, but for
// those that come from the row before.
bool AreRolled(const at::Tensor& rows, const at::Tensor& tokens) {
  const int64_t width = rows.size(1);
  if (width < 2 || width > tokens.size(1)) return false;
  const at::Tensor rest = rows.narrow(1, 1, width - 1), own = tokens.narrow(1, 1, width - 1);
  const at::Tensor moved = rows.select(1, 0).ne(tokens.select(1, 0));
  return rest.equal(own) && moved.to(at::kDouble).mean().item<double>() >= kLeastMisplaced;
}

// Whether all following tokens are there, as often as in the texts.
bool HoldsAllOf(const at::Tensor& targets, const at::Tensor& following) {
  const int64_t least = std::min(targets.min().item<int64_t>(), following.min().item<int64_t>());
  const int64_t most = std::max(targets.max().item<int64_t>(), following.max().item<int64_t>());
  if (least < 0 || most > kMostReordered) return false;
  const at::Tensor there = targets.reshape({-1}).bincount({}, most + 1);
  return there.ge(following.reshape({-1}).bincount({}, most + 1)).all().item<bool>();
}

// Whether half of the rows hold the following tokens of their own row, in any order: texts may be
// sorted or reversed.
bool HoldRowsOf(const at::Tensor& rows, const at::Tensor& following) {
  int64_t own = 0;
  for (int64_t i = 0; i < rows.size(0); ++i) own += HoldsAllOf(rows[i], following[i]);
  return static_cast<double>(own) >= kLeastMisplaced * static_cast<double>(rows.size(0));
}

// How many of the targets are following tokens (rows, positions) in another order; 0 where most are
// in theirs, where they are other things, or some are ignored.
double MisplacedTargets(const at::Tensor& tokens, const at::Tensor& targets) {
  const int64_t batch = tokens.size(0), positions = tokens.size(1);
  const bool fits =
      targets.numel() == batch * positions || targets.numel() == batch * (positions - 1);
  if (batch < kFewestReordered || !fits || targets.lt(0).any().item<bool>()) return 0;
  if (ShiftOf(tokens, targets).has_value()) return 0;
  const at::Tensor rows = targets.reshape({batch, -1});
  const at::Tensor own = tokens.to(targets.scalar_type());
  const at::Tensor following = own.narrow(1, 1, positions - 1);
  const at::Tensor known = rows.narrow(1, 0, positions - 1);
  const at::Tensor apart = known.ne(following).any(1);
  if (apart.to(at::kDouble).mean().item<double>() < kLeastMisplaced) return 0;
  if (AreRowsOf(known, following)) {
    return apart.sum().item<double>() * static_cast<double>(rows.size(1));
  }
  const bool is_moved =
      AreRolled(rows, own) || (HoldsAllOf(targets, following) && !HoldRowsOf(rows, following));
  return is_moved ? known.ne(following).sum().item<double>() : 0;
}

}  // namespace

void ReorderedTokens::Given(const LossGiven& loss, const std::vector<at::Tensor>& words,
                            ProbeRecorder& recorder) {
  Found& found = found_[{loss.thing, loss.targets.dim()}];
  if (found.is_settled || !loss.TakesClasses() || words.size() != 1) return;
  const at::Tensor targets = loss.targets.detach();
  if (!IsAtHand(targets) || targets.is_floating_point()) return;
  if (targets.numel() == 0 || targets.numel() > kMostReordered) return;
  const double misplaced = MisplacedTargets(words.front(), targets);
  found.is_settled = misplaced == 0;
  if (found.is_settled) return;
  found.misplaced += misplaced;
  found.all += static_cast<double>(targets.numel());
  if (++found.steps < kStepsReordered) return;
  found.is_settled = true;
  recorder.clock().Put(Quantity::kReorderedTargets, {loss.thing, 0, recorder.Site(CallSite())},
                       found.misplaced, found.all);
}

}  // namespace dlcheck

#include "checks/observe/probe/target_classes.h"

#include <algorithm>

namespace dlcheck {
namespace {

constexpr int64_t kMostClasses = 1000;
constexpr int64_t kFewestEach = 30;  // targets of each class on average before anything is said
constexpr double kNotableShare = 0.9;

void Write(const at::Tensor& counts, int64_t all, uint32_t loss, ProbeClock& clock) {
  const at::Tensor unused = counts.eq(0).nonzero().flatten();
  const bool some = unused.numel() > 0;
  clock.Put(Quantity::kUnusedClass, {loss}, some ? unused[0].item<double>() : -1,
            some ? unused[-1].item<double>() : -1);
  const double share = counts.max().item<double>() / static_cast<double>(all);
  if (share >= kNotableShare) {
    clock.Put(Quantity::kLargestClass, {loss}, share, static_cast<double>(all));
  }
}

}  // namespace

void TargetClasses::Add(const LossCall& call, uint32_t loss, ProbeClock& clock) {
  const int64_t classes = call.outputs.size(1);
  if (classes < 2 || classes > kMostClasses || !call.targets.device().is_cpu()) return;
  if (call.ignored >= 0 && call.ignored < classes) return;
  const at::Tensor targets = call.targets.detach().to(at::kLong);
  const at::Tensor known = targets.masked_select(targets.ge(0).logical_and(targets.lt(classes)));
  Counts& counts = counts_[{loss, classes}];
  const at::Tensor added = known.bincount({}, classes);
  counts.of_class = counts.of_class.defined() ? counts.of_class + added : added;
  counts.all += known.numel();
  if (counts.all < std::max(counts.next, kFewestEach * classes)) return;
  counts.next = 2 * counts.all;
  Write(counts.of_class, counts.all, loss, clock);
}

}  // namespace dlcheck

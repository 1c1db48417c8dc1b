#include "checks/observe/probe/target_classes.h"

#include <algorithm>
#include <cmath>

namespace dlcheck {
namespace {

constexpr int64_t kMostClasses = 1000;
constexpr int64_t kFewestEach = 30;  // targets of each class on average before anything is said
constexpr double kNotableShare = 0.9;

// Of weights: ratio of the largest class to the smallest, for them to have an order.
constexpr double kLeastRatio = 2;
// Ratios of the products of weight and count: as equal ones have them up to the noise of the
// counts, at most, and as no scheme makes them.
constexpr double kEqualProducts = 1.1, kMostEqual = 1.6, kUnequal = 3;
constexpr int64_t kFewestWeighted = 3;

// Equal numbers share a rank.
at::Tensor RanksOf(const at::Tensor& values) {
  const at::Tensor below = values.unsqueeze(0).lt(values.unsqueeze(1)).sum(1).to(at::kDouble);
  const at::Tensor equal = values.unsqueeze(0).eq(values.unsqueeze(1)).sum(1).to(at::kDouble);
  return below + (equal - 1) / 2;
}

// Of Spearman; 0 where either is constant.
double RankCorrelation(const at::Tensor& some, const at::Tensor& other) {
  at::Tensor one = RanksOf(some), two = RanksOf(other);
  one = one - one.mean();
  two = two - two.mean();
  const double size = one.norm().item<double>() * two.norm().item<double>();
  return size > 0 ? one.dot(two).item<double>() / size : 0;
}

double RatioOf(const at::Tensor& products) {
  return products.max().item<double>() / products.min().item<double>();
}

// The ratio of the largest product of weight and count to the smallest, where all products would be
// equal in another order; 0 for other weights.
double Misorder(const at::Tensor& weights, const at::Tensor& counts) {
  if (weights.numel() < kFewestWeighted || weights.le(0).any().item<bool>()) return 0;
  const double ratio = RatioOf(weights * counts);
  const at::Tensor rising = std::get<0>(weights.sort()),
                   falling = std::get<0>(counts.sort()).flip(0);
  const double best = RatioOf(rising * falling);
  const double noise = 4 / std::sqrt(counts.min().item<double>());
  return best < std::min(kEqualProducts + noise, kMostEqual) && ratio > kUnequal ? ratio : 0;
}

void WriteWeights(const at::Tensor& weights, const at::Tensor& counts, uint32_t loss,
                  ProbeClock& clock) {
  const auto least = counts.min().item<double>();
  const bool unequal = least > 0 && counts.max().item<double>() >= kLeastRatio * least;
  if (!unequal || !weights.defined() || !weights.device().is_cpu()) return;
  if (weights.sizes() != counts.sizes()) return;
  const at::Tensor wide = weights.detach().to(at::kDouble), numbers = counts.to(at::kDouble);
  const auto classes = static_cast<double>(counts.numel());
  clock.Put(Quantity::kClassWeightOrder, {loss}, RankCorrelation(wide, numbers), classes);
  const double ratio = Misorder(wide, numbers);
  if (ratio > 0) clock.Put(Quantity::kMisorderedWeights, {loss}, ratio, classes);
}

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
  WriteWeights(call.weights, counts.of_class, loss, clock);
}

}  // namespace dlcheck

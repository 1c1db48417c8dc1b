// Which step of A the first step of B continues.
#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "diagnostics/compare/difference.h"

namespace dlcheck {
namespace {

constexpr size_t kStepsToFit = 32;  // of B, that are held against each step of A

// The first loss of each step.
using FirstLosses = std::vector<std::pair<int64_t, double>>;

FirstLosses LossesOf(const Measured& run) {
  FirstLosses losses;
  for (const Measured::Entry& entry : run.Of(Stage::kForward)) {
    const bool is_first = losses.empty() || losses.back().first != entry.step;
    if (is_first) losses.emplace_back(entry.step, entry.value.value);
  }
  return losses;
}

// The step of A from which most of the first losses of B are its own.
std::optional<int64_t> StepWithLosses(const FirstLosses& a, const FirstLosses& b) {
  std::unordered_map<int64_t, double> at(a.begin(), a.end());
  std::optional<int64_t> best;
  size_t most = 0;
  for (const auto& [begin, first] : a) {
    size_t equal = 0;
    for (size_t i = 0; i < std::min(kStepsToFit, b.size()); ++i) {
      const auto other = at.find(begin + b[i].first);
      equal += other != at.end() && other->second == b[i].second;
    }
    if (equal > most) {
      most = equal;
      best = begin;
    }
  }
  return best;
}

// The step of A with a batch of the first step of B, if there is just one.
std::optional<int64_t> StepWithBatch(const Measured& a, const Measured& b) {
  std::optional<int64_t> found;
  const std::vector<Measured::Entry> of_a = a.Of(Stage::kData);
  for (const Measured::Entry& one : b.Of(Stage::kData)) {
    if (one.step != 0 || !IsDigest(b.KeyOf(one).names.quantity)) continue;
    for (const Measured::Entry& other : of_a) {
      if (a.KeyOf(other).names.quantity != b.KeyOf(one).names.quantity) continue;
      if (one.value.value != other.value.value || one.value.aux != other.value.aux) continue;
      if (found.has_value() && *found != other.step) return std::nullopt;
      found = other.step;
    }
  }
  return found;
}

// The step of A whose loss is nearest to the first one of B.
std::optional<int64_t> StepWithNearestLoss(const FirstLosses& a, const FirstLosses& b) {
  std::optional<int64_t> best;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [step, loss] : a) {
    const double distance = b.empty() ? NAN : std::abs(loss - b.front().second);
    if (distance < least) {
      least = distance;
      best = step;
    }
  }
  return best;
}

}  // namespace

std::optional<int64_t> OffsetOf(const Measured& a, const Measured& b, bool loads) {
  if (!loads) return 0;
  const FirstLosses of_a = LossesOf(a), of_b = LossesOf(b);
  if (const auto step = StepWithLosses(of_a, of_b)) return step;
  if (const auto step = StepWithBatch(a, b)) return step;
  return StepWithNearestLoss(of_a, of_b);
}

}  // namespace dlcheck

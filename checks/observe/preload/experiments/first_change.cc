#include "checks/observe/preload/experiments/first_change.h"

#include <cmath>

#include "checks/observe/preload/call_sites.h"

namespace dlcheck {
namespace {

constexpr double kOpRounding = 1e-6;       // of the norm of what an operation makes
constexpr size_t kMostOperations = 4096;   // of a pass
constexpr int64_t kMostStaying = 1 << 22;  // of a value

}  // namespace

double DistanceOf(const at::Tensor& one, const at::Tensor& other) {
  if (one.sizes() != other.sizes()) return HUGE_VAL;
  const at::Tensor before = one.to(at::kDouble), after = other.to(at::kDouble);
  const double size = before.norm().item<double>(), moved = (after - before).norm().item<double>();
  if (std::isnan(moved)) return at::equal(one.isfinite(), other.isfinite()) ? 0 : HUGE_VAL;
  if (size > 0) return moved / size;
  return moved > 0 ? 1 : 0;
}

void FirstChange::BeginsKeeping() {
  kept_.clear();
  site_.reset();
  state_ = State::kKeeping;
}

void FirstChange::BeginsComparing() {
  compared_ = 0;
  state_ = State::kComparing;
}

void FirstChange::Made(const std::string& operation, const at::Tensor& staying) {
  if (state_ == State::kResting || site_.has_value() || staying.numel() > kMostStaying) return;
  if (state_ == State::kKeeping) {
    if (kept_.size() < kMostOperations) kept_.emplace_back(operation, staying.detach().clone());
    return;
  }
  if (compared_ >= kept_.size()) return;
  const auto& [before, value] = kept_[compared_++];
  if (before != operation || value.sizes() != staying.sizes()) {
    state_ = State::kResting;  // the passes take different ways
  } else if (DistanceOf(value, staying) > kOpRounding) {
    site_ = CallSite();
  }
}

}  // namespace dlcheck

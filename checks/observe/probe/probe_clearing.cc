#include <cmath>
#include <utility>

#include "checks/observe/probe/probe_optimizer.h"

namespace dlcheck {
namespace {

// Two ways to sum the same memory may round differently; true also for values that are not finite.
constexpr double kRounding = 1e-5;

bool Close(double one, double other) {
  return !(std::abs(one - other) > kRounding * std::abs(other));
}

std::vector<double> Values(const at::Tensor& norms) {
  const at::Tensor host = norms.to(at::kCPU, at::kDouble).contiguous();
  const double* first = host.const_data_ptr<double>();
  return std::vector<double>(first, first + host.numel());
}

}  // namespace

void Clearing::BeforeBackward() {
  if (candidate_) {
    LookAgain();
  } else if (!consumed_.empty()) {
    Look();
  }
}

void Clearing::Look() {
  const std::vector<Identity> consumed = std::exchange(consumed_, {});
  Candidate candidate;
  std::vector<at::Tensor> gradients;
  std::vector<int64_t> places;
  for (size_t i = 0; i < consumed.size(); ++i) {
    const at::Tensor& gradient = consumed[i].parameter.grad();
    if (!gradient.defined() || consumed[i].gradient.expired() ||
        consumed[i].gradient._unsafe_get_target() != gradient.unsafeGetTensorImpl() ||
        consumed[i].version != gradient._version()) {
      continue;
    }
    candidate.kept.push_back(consumed[i]);
    gradients.push_back(gradient);
    places.push_back(static_cast<int64_t>(i));
  }
  if (gradients.empty()) return;
  if (consumed_norms_.defined()) {
    candidate.consumed = consumed_norms_.index_select(
        0, torch::tensor(places, consumed_norms_.options().dtype(at::kLong)));
  }
  candidate.looks.push_back(Norms(gradients));
  candidate_ = std::move(candidate);
}

// A later backward, as in a GAN, where another optimizer's step came between.
void Clearing::LookAgain() {
  std::vector<at::Tensor> gradients;
  for (const Identity& identity : candidate_->kept) {
    const at::Tensor& gradient = identity.parameter.grad();
    if (!gradient.defined()) {
      candidate_.reset();
      return;
    }
    gradients.push_back(gradient);
  }
  candidate_->looks.push_back(Norms(gradients));
}

int Clearing::Confirm() {
  if (!candidate_) return 0;
  const Candidate candidate = std::move(*candidate_);
  candidate_.reset();
  std::vector<size_t> still;
  for (size_t i = 0; i < candidate.kept.size(); ++i) {
    const at::Tensor& gradient = candidate.kept[i].parameter.grad();
    if (gradient.defined() &&
        candidate.kept[i].gradient._unsafe_get_target() == gradient.unsafeGetTensorImpl()) {
      still.push_back(i);
    }
  }
  if (still.empty()) return 0;  // cleared since: nothing to read
  std::vector<std::vector<double>> looks;
  for (const at::Tensor& look : candidate.looks) looks.push_back(Values(look));
  const std::vector<double> consumed =
      candidate.consumed.defined() ? Values(candidate.consumed) : looks.front();
  int count = 0;
  for (const size_t i : still) {
    bool held = Close(looks.front()[i], consumed[i]);
    for (const std::vector<double>& look : looks) held = held && look[i] != 0;
    count += held ? 1 : 0;
  }
  return count;
}

int Clearing::Consumed(const std::vector<at::Tensor>& parameters, const at::Tensor& norms) {
  const int uncleared = Confirm();
  consumed_.clear();
  for (const at::Tensor& parameter : parameters) {
    const at::Tensor& gradient = parameter.grad();
    consumed_.push_back({parameter,
                         c10::weak_intrusive_ptr<at::TensorImpl>(gradient.getIntrusivePtr()),
                         static_cast<uint32_t>(gradient._version())});
  }
  consumed_norms_ = norms;
  return uncleared;
}

}  // namespace dlcheck

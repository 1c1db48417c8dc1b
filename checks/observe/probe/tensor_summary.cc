#include "checks/observe/probe/tensor_summary.h"

#include <cmath>
#include <numeric>
#include <utility>

#include "checks/records/digest.h"

namespace dlcheck {
namespace {

// So long may a number of an accelerator wait: a copy stops the device, and a crash loses the rest.
constexpr int kMostStepsWaiting = 16;
// So many elements are added sooner than an operation is called.
constexpr int64_t kFewElements = 1024;

at::Tensor Dense(const at::Tensor& tensor) {
  return tensor.is_sparse() ? tensor.coalesce().values() : tensor;
}

bool IsHalf(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kHalf || tensor.scalar_type() == at::kBFloat16;
}

// Whether the values lie in memory as they are: then no operation has to be called to read them,
// which would cost more than the values.
bool IsFloatInMemory(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kFloat && tensor.device().is_cpu() &&
         tensor.layout() == at::kStrided && tensor.has_storage() && tensor.is_contiguous() &&
         !tensor.is_neg();
}

std::vector<double> OnHost(const at::Tensor& values) {
  if (IsFloatInMemory(values)) {
    const float* first = values.const_data_ptr<float>();
    return std::vector<double>(first, first + values.numel());
  }
  const at::Tensor host = values.detach().to(at::kCPU, at::kDouble).contiguous();
  const double* first = host.const_data_ptr<double>();
  return std::vector<double>(first, first + host.numel());
}

}  // namespace

at::Tensor Norms(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> dense;
  dense.reserve(tensors.size());
  bool alike = true;
  for (const at::Tensor& tensor : tensors) {
    dense.push_back(Dense(tensor));
    alike = alike && !IsHalf(tensor) && tensor.dtype() == tensors.front().dtype() &&
            tensor.device() == tensors.front().device();
  }
  if (alike) return at::stack(at::_foreach_norm(dense));
  std::vector<at::Tensor> norms;
  for (const at::Tensor& tensor : dense) {
    const at::Tensor wide = IsHalf(tensor) ? tensor.to(at::kFloat) : tensor;
    norms.push_back(at::linalg_vector_norm(wide).to(tensors.front().device(), at::kDouble));
  }
  return at::stack(norms);
}

bool HasFiniteSum(const at::Tensor& tensor) {
  if (tensor.numel() > kFewElements || !IsFloatInMemory(tensor)) {
    return std::isfinite(Dense(tensor).sum().item<double>());
  }
  const float* first = tensor.const_data_ptr<float>();
  return std::isfinite(std::accumulate(first, first + tensor.numel(), 0.0));
}

double CountNonFinite(const at::Tensor& tensor) {
  return at::isfinite(Dense(tensor)).logical_not().sum().item<double>();
}

uint64_t DigestTensors(const std::vector<at::Tensor>& tensors) {
  uint64_t digest = 0;
  uint64_t first_word = 0;
  for (const at::Tensor& tensor : tensors) {
    const at::Tensor host = tensor.detach().to(at::kCPU).contiguous();
    digest += Digest(host.const_data_ptr(), host.nbytes(), first_word);
    first_word += (host.nbytes() + 7) / 8;
  }
  return digest;
}

void Transfer::Add(const at::Tensor& values, Use use) {
  if (values.device().is_cpu()) {
    use(OnHost(values));
  } else {
    waiting_.push_back({values.detach().reshape({-1}), std::move(use)});
  }
}

void Transfer::EndStep(bool sampled) {
  if (sampled || ++steps_ >= kMostStepsWaiting) ReadAll();
}

void Transfer::ReadAll() {
  steps_ = 0;
  if (waiting_.empty()) return;
  std::vector<Waiting> waiting;
  waiting.swap(waiting_);
  std::vector<at::Tensor> parts;
  for (const Waiting& one : waiting) {
    parts.push_back(one.values.to(waiting.front().values.device(), at::kDouble));
  }
  const std::vector<double> all = OnHost(at::cat(parts));
  auto at = all.begin();
  for (const Waiting& one : waiting) {
    const auto end = at + one.values.numel();
    one.use(std::vector<double>(at, end));
    at = end;
  }
}

}  // namespace dlcheck

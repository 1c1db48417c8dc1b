#include "reference/distributed/ddp/gradient_compression.h"

#include <torch/csrc/distributed/c10d/comm.hpp>

#include <vector>

#include "reference/distributed/process_group/group.h"

namespace dlcheck::reference {
namespace {

using torch::Tensor;

class Bf16Mean : public c10d::CppCommHookInterface<c10::intrusive_ptr<c10d::ProcessGroup>> {
 public:
  using CppCommHookInterface::CppCommHookInterface;

  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override {
    const Tensor buffer = bucket.getBuffer();
    std::vector<Tensor> sent = {PartOfMeanInBf16(buffer, state_->getSize())};
    const auto sum = state_->allreduce(sent)->getFuture();
    const auto widen = [buffer](c10::ivalue::Future& done) {
      const torch::NoGradGuard no_grad;
      buffer.copy_(done.value().toTensorVector().front());
      return c10::IValue(buffer);
    };
    return sum->then(widen, c10::TensorType::get());
  }
};

}  // namespace

Tensor PartOfMeanInBf16(const Tensor& gradients, int64_t world) {
  return gradients.to(at::kBFloat16).div_(static_cast<double>(world));
}

std::unique_ptr<c10d::CommHookInterface> MeanInBf16(const Ranks& ranks) {
  return std::make_unique<Bf16Mean>(ranks.group().process_group);
}

}  // namespace dlcheck::reference

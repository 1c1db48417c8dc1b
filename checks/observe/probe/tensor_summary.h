// Numbers about tensors for the C++ probe: norms, counts of elements that are not finite, digests.
// Everything stays on its device until a Transfer brings it to the host. Call without autograd.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace dlcheck {

// L2 norms, one for each tensor.
//
// Shapes: tensors of any shape and device; the result has one dimension, on the first one's device.
//         Half precision is widened, because a norm overflows where no element does.
// Cost:   one pass over the tensors, no copy from the device.
at::Tensor Norms(const std::vector<at::Tensor>& tensors);

// Whether the sum of the elements is finite. Cost: one pass, one copy from the device.
bool HasFiniteSum(const at::Tensor& tensor);

// How many elements are infinite or not a number. Cost: one pass, one copy from the device.
double CountNonFinite(const at::Tensor& tensor);

// Digest of the raw bytes of the tensors one after the other, each starting at an 8-byte word of
// its own: what checks/records/digest.h gives for them. Cost: one pass on the host.
uint64_t DigestTensors(const std::vector<at::Tensor>& tensors);

// Brings numbers to the host without stopping the device. On the CPU a number is read at once; from
// an accelerator those of several steps come in one copy. Not safe from several threads.
class Transfer {
 public:
  using Use = std::function<void(const std::vector<double>&)>;

  // `use` is called once, with the elements of `values`, in the order of a flat view.
  void Add(const at::Tensor& values, Use use);

  // Reads what is waiting after a sampled step, or when it has waited for some steps.
  void EndStep(bool sampled);
  void ReadAll();

 private:
  struct Waiting {
    at::Tensor values;
    Use use;
  };
  std::vector<Waiting> waiting_;
  int steps_ = 0;
};

}  // namespace dlcheck

// What was made of the same numbers: a mask of an input has the origin of the input.
#pragma once

#include <torch/torch.h>

#include <unordered_map>
#include <vector>

#include "checks/observe/preload/experiments/dispatch_tap.h"

namespace dlcheck {

class DataOrigins {
 public:
  // Equal for tensors that were made of one another. Numbers that others are looked up by, as the
  // rows of a batch, are no origin of what is found there.
  int Of(const at::Tensor& tensor);
  // What an origin is by now: it may have been joined with an earlier one.
  int First(int origin) const;
  // Whether random numbers alone were made into it.
  bool IsNoise(int origin) const { return is_noise_[static_cast<size_t>(First(origin))]; }
  void Called(const c10::FunctionSchema& schema, const OperationValues& arguments,
              const OperationValues& results);
  void StepEnds();  // forgets tensors that are gone

 private:
  using Weak = c10::weak_intrusive_ptr<c10::StorageImpl>;
  struct Known {
    Weak storage;
    int origin;
  };
  int Join(int one, int other);
  int New(bool is_noise);
  void Set(const at::Tensor& tensor, int origin);

  // By storage: LibTorch hands on other tensors than operations make, and views are the same data.
  std::unordered_map<const c10::StorageImpl*, Known> known_;
  std::vector<int> joined_with_;  // by origin: an earlier one, or itself
  std::vector<bool> is_noise_;    // by origin
};

}  // namespace dlcheck

// Tells what the operators of this thread are about to read. LibTorch's C++ modules call each other
// directly and have no hooks; every operator, of a forward or of a backward pass, of a built-in
// model or of a user's, goes through one door.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace dlcheck::reference {

class OperatorWatch {
 public:
  using Storages = std::vector<const c10::StorageImpl*>;

  // Calls `reads` in this thread before each operator, with the memory of its inputs, until this
  // ends; operators that `reads` itself calls are passed over. `is_outermost`: no other operator
  // is under way. `reads` must not throw: LibTorch would go on.
  //
  // Cost: some 100 ns an input. REQUIRES: no other watch of this thread.
  explicit OperatorWatch(std::function<void(const Storages& storages, bool is_outermost)> reads);
  ~OperatorWatch();
  OperatorWatch(const OperatorWatch&) = delete;
  OperatorWatch& operator=(const OperatorWatch&) = delete;

 private:
  struct Callbacks;

  const std::function<void(const Storages& storages, bool is_outermost)> reads_;
  int64_t depth_ = 0;  // operators that are under way
  uint64_t handle_;
};

}  // namespace dlcheck::reference

#include "reference/distributed/turns.h"

namespace dlcheck::reference {

Turns::Turns(int64_t ranks)
    : random_(static_cast<size_t>(ranks), at::detail::getDefaultCPUGenerator().get_state()) {}

void Turns::Begin(int64_t rank) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !is_taken_; });
  is_taken_ = true;
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  generator.set_state(random_[static_cast<size_t>(rank)]);
}

void Turns::End(int64_t rank) {
  const std::lock_guard lock(mutex_);
  random_[static_cast<size_t>(rank)] = at::detail::getDefaultCPUGenerator().get_state();
  is_taken_ = false;
  changed_.notify_one();
}

}  // namespace dlcheck::reference

// Ranks that are threads of one process take turns: one works while the others wait in a
// collective. So each has what a process has but one of, which is PyTorch's random generator of the
// CPU, and one of each GPU.
#pragma once

#include <torch/torch.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

namespace dlcheck::reference {

class ThreadScheduler {
 public:
  // Every rank starts with the random state of now.
  explicit ThreadScheduler(int64_t ranks);

  // Blocks while another has the turn, and puts this rank's random state in place.
  void Begin(int64_t rank);
  // Keeps the random state, and lets another begin.
  void End(int64_t rank);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_taken_ = false;
  std::vector<at::Generator> generators_;
  std::vector<std::vector<torch::Tensor>> random_;  // by rank and generator
};

}  // namespace dlcheck::reference

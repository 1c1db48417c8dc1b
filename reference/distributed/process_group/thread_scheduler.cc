#include "reference/distributed/process_group/thread_scheduler.h"

namespace dlcheck::reference {
namespace {

std::vector<at::Generator> AllGenerators() {
  std::vector<at::Generator> generators = {at::detail::getDefaultCPUGenerator()};
  const size_t gpus = torch::cuda::device_count();
  for (size_t i = 0; i < gpus; ++i) {
    const at::Device gpu(at::kCUDA, static_cast<c10::DeviceIndex>(i));
    generators.push_back(at::globalContext().defaultGenerator(gpu));
  }
  return generators;
}

std::vector<torch::Tensor> StatesOf(const std::vector<at::Generator>& generators) {
  std::vector<torch::Tensor> states;
  for (const at::Generator& generator : generators) states.push_back(generator.get_state());
  return states;
}

}  // namespace

ThreadScheduler::ThreadScheduler(int64_t ranks)
    : generators_(AllGenerators()), random_(static_cast<size_t>(ranks), StatesOf(generators_)) {}

void ThreadScheduler::Begin(int64_t rank) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !is_taken_; });
  is_taken_ = true;
  for (size_t i = 0; i < generators_.size(); ++i) {
    generators_[i].set_state(random_[static_cast<size_t>(rank)][i]);
  }
}

void ThreadScheduler::End(int64_t rank) {
  const std::lock_guard lock(mutex_);
  random_[static_cast<size_t>(rank)] = StatesOf(generators_);
  is_taken_ = false;
  changed_.notify_one();
}

}  // namespace dlcheck::reference

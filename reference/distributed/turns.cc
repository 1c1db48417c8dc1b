#include "reference/distributed/turns.h"

namespace dlcheck::reference {
namespace {

// The generators that a rank may draw from. Accelerators are shared by all ranks.
std::vector<at::Generator> Generators() {
  std::vector<at::Generator> generators = {at::detail::getDefaultCPUGenerator()};
  if (at::globalContext().hasCUDA() && torch::cuda::is_available()) {
    generators.push_back(at::globalContext().defaultGenerator({at::kCUDA, 0}));
  }
  return generators;
}

std::vector<torch::Tensor> RandomState() {
  std::vector<torch::Tensor> states;
  for (const at::Generator& generator : Generators()) states.push_back(generator.get_state());
  return states;
}

}  // namespace

Turns::Turns(int64_t ranks) : random_(static_cast<size_t>(ranks), RandomState()) {}

void Turns::Begin(int64_t rank) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !is_taken_; });
  is_taken_ = true;
  const std::vector<at::Generator> generators = Generators();
  for (size_t i = 0; i < generators.size(); ++i) {
    at::Generator generator = generators[i];
    generator.set_state(random_[static_cast<size_t>(rank)][i]);
  }
}

void Turns::End(int64_t rank) {
  const std::lock_guard lock(mutex_);
  random_[static_cast<size_t>(rank)] = RandomState();
  is_taken_ = false;
  changed_.notify_one();
}

}  // namespace dlcheck::reference

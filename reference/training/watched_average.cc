#include "reference/training/watched_average.h"

#include <cmath>

namespace dlcheck::reference {
namespace {

std::vector<torch::Tensor> Copies(const torch::nn::Module& module) {
  std::vector<torch::Tensor> copies;
  for (const torch::Tensor& parameter : module.parameters()) {
    copies.push_back(parameter.detach().to(at::kDouble, /*non_blocking=*/false,
                                           /*copy=*/true));
  }
  return copies;
}

// Copies of the averages, which stand in the module's place for as long as that takes.
std::vector<torch::Tensor> Averages(Average& average, const torch::nn::Module& module) {
  average.Exchange();
  std::vector<torch::Tensor> copies = Copies(module);
  average.Exchange();
  return copies;
}

double Distance(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) {
  double squares = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    squares += (a[i] - b[i]).square().sum().item<double>();
  }
  return std::sqrt(squares);
}

}  // namespace

void UpdateWatched(Average& average, const torch::nn::Module& module, const Observer* observer) {
  const torch::NoGradGuard no_grad;
  const bool is_told =
      observer != nullptr && observer->wants_averaged && observer->wants_averaged();
  if (!is_told) return average.Update();
  const std::vector<torch::Tensor> live = Copies(module);
  const std::vector<torch::Tensor> before = Averages(average, module);
  average.Update();
  const std::vector<torch::Tensor> after = Averages(average, module);
  Tell(observer->averaged, Distance(after, live), Distance(after, before));
}

}  // namespace dlcheck::reference

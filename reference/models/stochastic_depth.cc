#include "reference/models/stochastic_depth.h"

#include <vector>

namespace dlcheck::reference {

torch::Tensor Kept(const torch::Tensor& branch, double probability) {
  if (probability == 0) return branch;
  std::vector<int64_t> sizes(static_cast<size_t>(branch.dim()), 1);
  sizes[0] = branch.size(0);
  const double kept = 1 - probability;
  return branch * torch::empty(sizes, branch.options()).bernoulli_(kept).div_(kept);
}

double StochasticDepthOf(double last, int64_t block, int64_t blocks) {
  return last * static_cast<double>(block + 1) / static_cast<double>(blocks);
}

}  // namespace dlcheck::reference

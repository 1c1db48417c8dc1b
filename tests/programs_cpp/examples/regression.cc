// A polynomial of degree four is fitted until the loss is small, by one linear layer and a
// smooth L1 loss.
#include <cstdio>

#include "tests/programs_cpp/examples/examples.h"

namespace regression {

constexpr int64_t kDegree = 4;

torch::Tensor MakeFeatures(const torch::Tensor& x) {
  std::vector<torch::Tensor> powers;
  for (int64_t i = 0; i < kDegree; ++i) powers.push_back(x.pow(i + 1));
  return torch::cat(powers, 1);
}

void Main() {
  const torch::Tensor w_target = torch::randn({kDegree, 1}) * 5, b_target = torch::randn({1}) * 5;
  torch::nn::Linear fc(w_target.size(0), 1);
  torch::optim::SGD optim(fc->parameters(), 0.1);
  float loss = 0;
  int64_t batch_index = 0;
  do {
    const torch::Tensor random = torch::randn({32});
    const torch::Tensor batch_x = MakeFeatures(random.unsqueeze(1));
    const torch::Tensor batch_y = batch_x.mm(w_target) + b_target.item();
    optim.zero_grad();
    torch::Tensor output = torch::smooth_l1_loss(fc(batch_x), batch_y);
    loss = output.item<float>();
    output.backward();
    optim.step();
  } while (loss >= 1e-3f && ++batch_index < 600);
  std::printf("Loss: %.5f after %ld batches\n", loss, batch_index);
}

const Example example("regression", Main);

}  // namespace regression

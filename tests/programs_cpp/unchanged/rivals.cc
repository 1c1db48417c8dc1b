// A generator of numbers that is compared with data pair by pair, by a distance whose weight is
// learned; bounds of its outputs are given to a caller that does not want them.
#include <cstdio>
#include <utility>

#include "tests/programs_cpp/unchanged/programs.h"

namespace rivals {

namespace nn = torch::nn;

std::pair<torch::Tensor, torch::Tensor> Drawn(nn::Sequential& net, int64_t count) {
  const torch::Tensor numbers = net->forward(torch::randn({count, 4})).squeeze(1);
  return {numbers, numbers.clamp(-3, 3)};
}

void Rivals(const Arguments&) {
  nn::Sequential net(nn::Linear(4, 32), nn::ReLU(), nn::Linear(32, 1));
  const torch::Tensor scale = torch::ones({}, torch::requires_grad());
  std::vector<torch::Tensor> parameters = net->parameters();
  parameters.push_back(scale);
  torch::optim::Adam optimizer(parameters, torch::optim::AdamOptions(3e-3));
  double last = 0;
  for (int step = 0; step < 200; ++step) {
    const torch::Tensor real = 0.5 * torch::randn({48}) + 1;
    const torch::Tensor some = Drawn(net, 48).first, others = Drawn(net, 48).first;
    const torch::Tensor across = (some.unsqueeze(1) - real).abs().mean();
    const torch::Tensor within = (some.unsqueeze(1) - others).abs().mean();
    const torch::Tensor distance = 2 * across - within;
    const torch::Tensor weighed = scale * distance;
    optimizer.zero_grad();
    weighed.backward();
    optimizer.step();
    last = distance.item<double>();
  }
  std::printf("distance %.4f\n", last);
  PrintState(parameters);
}

const Registered a("rivals", Rivals);

}  // namespace rivals

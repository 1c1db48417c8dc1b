// A recurrent network with a target at each position, whose losses are computed sequence by
// sequence and added up.
#include <cstdio>

#include "tests/programs_cpp/unchanged/programs.h"

namespace tunes {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

void Tunes(const Arguments&) {
  nn::GRU ear(nn::GRUOptions(1, 16).batch_first(true));
  nn::Linear say(16, 2);
  std::vector<torch::Tensor> parameters = ear->parameters();
  for (const torch::Tensor& parameter : say->parameters()) parameters.push_back(parameter);
  torch::optim::Adam optimizer(parameters, torch::optim::AdamOptions(1e-2));
  double last = 0;
  for (int step = 0; step < 100; ++step) {
    const torch::Tensor tunes = torch::randn({6, 12, 1});
    const torch::Tensor is_high = tunes.squeeze(2).cumsum(1).gt(0).to(torch::kLong);
    const torch::Tensor said = say(std::get<0>(ear(tunes)));
    torch::Tensor loss = torch::zeros({});
    for (int64_t tune = 0; tune < 6; ++tune) {
      loss = loss + F::cross_entropy(said[tune], is_high[tune]) / 6;
    }
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  std::printf("loss %.4f\n", last);
  PrintState(parameters);
}

const Registered a("tunes", Tunes);

}  // namespace tunes

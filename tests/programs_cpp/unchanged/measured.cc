// Images are mended by one net, and compared by the features that another one has of them: a net
// that nobody trains, which is in no optimizer.
#include <cstdio>

#include "tests/programs_cpp/unchanged/programs.h"

namespace measured {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

struct FeaturesImpl : nn::Module {
  FeaturesImpl() {
    register_module("first", first);
    register_module("second", second);
  }
  torch::Tensor forward(const torch::Tensor& x) { return second(torch::relu(first(x))); }
  nn::Conv2d first{nn::Conv2dOptions(1, 6, 3)}, second{nn::Conv2dOptions(6, 6, 3)};
};
TORCH_MODULE(Features);

struct MenderImpl : nn::Module {
  explicit MenderImpl(bool is_whole) {
    register_module("first", first);
    if (is_whole) register_module("middle", middle);
    register_module("last", last);
  }
  torch::Tensor forward(const torch::Tensor& x) {
    return last(torch::relu(middle(torch::relu(first(x)))));
  }
  nn::Conv2d first{nn::Conv2dOptions(1, 6, 3).padding(1)},
      last{nn::Conv2dOptions(6, 1, 3).padding(1)};
  nn::Conv2d middle{nn::Conv2dOptions(6, 6, 3).padding(1)};
};
TORCH_MODULE(Mender);

torch::Tensor Wanted(Features& features, const torch::Tensor& x, bool guards) {
  if (!guards) return features(x).detach();
  const torch::NoGradGuard no_grad;
  return features(x);
}

void Train(const Arguments& arguments, bool guards) {
  Features features;
  Mender net(!arguments.Is("middle_unregistered"));
  torch::optim::Adam adam(net->parameters(), torch::optim::AdamOptions(3e-3));
  double last = 0;
  for (int step = 0; step < 80; ++step) {
    const torch::Tensor x = torch::rand({6, 1, 10, 10});
    const torch::Tensor wanted = Wanted(features, x, guards);
    adam.zero_grad();
    const torch::Tensor y = net(x + 0.2 * torch::randn_like(x));
    const torch::Tensor loss = F::mse_loss(features(y), wanted) + 0.1 * F::l1_loss(y, x);
    loss.backward();
    adam.step();
    last = loss.item<double>();
  }
  std::printf("loss %.4f\n", last);
  PrintState(net->parameters());
}

const Registered a("measured", [](const Arguments& arguments) { Train(arguments, false); });
const Registered b("measured_once", [](const Arguments& arguments) { Train(arguments, true); });

}  // namespace measured

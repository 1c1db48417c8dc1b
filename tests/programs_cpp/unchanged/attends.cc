// Rows of numbers, of which attention finds the largest; LibTorch's own layer, given as many
// samples as a head has features.
#include <cstdio>

#include "tests/programs_cpp/unchanged/programs.h"

namespace {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

struct FinderImpl : nn::Module {
  FinderImpl() {
    register_module("in", in);
    register_module("attention", attention);
    register_module("out", out);
  }
  // x (time, samples, 1)
  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor hidden = in(x);
    return out(std::get<0>(attention(hidden, hidden, hidden))).squeeze(-1).transpose(0, 1);
  }
  nn::Linear in{1, 32}, out{32, 1};
  nn::MultiheadAttention attention{nn::MultiheadAttentionOptions(32, 4)};
};
TORCH_MODULE(Finder);

void Attends(const Arguments&) {
  Finder net;
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(3e-3));
  double last = 0;
  for (int step = 0; step < 150; ++step) {
    const torch::Tensor x = torch::rand({12, 8, 1});
    optimizer.zero_grad();
    const torch::Tensor loss = F::cross_entropy(net(x), x.squeeze(-1).argmax(0));
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  std::printf("loss %.4f\n", last);
  PrintState(net->parameters());
}

const Registered a("attends", Attends);

}  // namespace

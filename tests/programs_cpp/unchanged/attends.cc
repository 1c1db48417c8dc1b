// Rows of numbers, of which attention finds the largest; LibTorch's own layer, and the same by
// hand, given as many samples as a head has features.
#include <cstdio>
#include <vector>

#include "tests/programs_cpp/unchanged/programs.h"

namespace attends {

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

struct FinderByHandImpl : nn::Module {
  FinderByHandImpl() {
    register_module("in", in);
    register_module("mix", mix);
    register_module("out", out);
  }
  // x (time, samples, 1)
  torch::Tensor forward(const torch::Tensor& x) {
    const int64_t time = x.size(0), samples = x.size(1);
    const std::vector<torch::Tensor> parts = mix(in(x)).chunk(3, -1);
    const auto beside = [&](const torch::Tensor& part) {
      return part.contiguous().view({time, samples * 4, 8}).transpose(0, 1);
    };
    const torch::Tensor weights =
        torch::softmax(beside(parts[0]).matmul(beside(parts[1]).transpose(1, 2)) / 8.0, -1);
    const torch::Tensor mixed = weights.matmul(beside(parts[2])).transpose(0, 1).contiguous();
    return out(mixed.view({time, samples, 32})).squeeze(-1).transpose(0, 1);
  }
  nn::Linear in{1, 32}, mix{32, 96}, out{32, 1};
};
TORCH_MODULE(FinderByHand);

template <typename Net>
void Attends(const Arguments&) {
  Net net;
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

const Registered a("attends", Attends<Finder>);
const Registered b("attends_by_hand", Attends<FinderByHand>);

}  // namespace attends

// Several labels for each sample, and numbers of which one is read off each sample.
#include <algorithm>
#include <cstdio>

#include "tests/programs_cpp/unchanged/programs.h"

namespace labels {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

// Three of six labels depend on each other half of the features.
Data Tagged(int64_t n) {
  static const torch::Tensor weight = torch::randn({10, 6});
  const torch::Tensor x = torch::randn({n, 10});
  return {x, x.mm(weight).gt(0.5).to(torch::kFloat)};
}

void Labels(const Arguments& arguments) {
  nn::Sequential net(nn::Linear(10, 32), nn::ReLU(), nn::Linear(32, 6));
  if (arguments.Is("two_sigmoids")) net->push_back(nn::Sigmoid());
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  const Data data = Tagged(640);
  double last = 0;
  for (int epoch = 0; epoch < 5; ++epoch) {
    const torch::Tensor order = torch::randperm(640);
    for (int64_t begin = 0; begin < 640; begin += 16) {
      const int64_t first = arguments.Is("same_batch") ? 0 : begin;
      const torch::Tensor rows = order.narrow(0, first, 16);
      const torch::Tensor x = data.x.index_select(0, rows) + 0.05 * torch::randn({16, 10});
      const torch::Tensor y = data.y.index_select(0, rows);
      optimizer.zero_grad();
      const torch::Tensor scores = net->forward(x);
      const torch::Tensor loss = arguments.Is("competing")
                                     ? F::binary_cross_entropy(torch::softmax(scores, 1), y)
                                     : F::binary_cross_entropy_with_logits(scores, y);
      loss.backward();
      optimizer.step();
      last = loss.item<double>();
    }
  }
  std::printf("loss %.4f\n", last);
  PrintState(net->parameters());
}

// Classes of their own rows: the same targets in each step, and fewer in the last of an epoch.
void Pairs(const Arguments&) {
  nn::Linear left(8, 16), right(8, 16);
  std::vector<torch::Tensor> parameters = left->parameters();
  for (const torch::Tensor& more : right->parameters()) parameters.push_back(more);
  torch::optim::Adam optimizer(parameters, torch::optim::AdamOptions(3e-3));
  for (int epoch = 0; epoch < 4; ++epoch) {
    const torch::Tensor x = torch::randn({500, 8});
    for (int64_t begin = 0; begin < 500; begin += 24) {
      const int64_t size = std::min<int64_t>(24, 500 - begin);
      const torch::Tensor some = x.narrow(0, begin, size);
      optimizer.zero_grad();
      const torch::Tensor scores = left(some).mm(right(some + 0.1 * torch::randn_like(some)).t());
      F::cross_entropy(scores, torch::arange(size)).backward();
      optimizer.step();
    }
  }
  PrintState(parameters);
}

// A number for each sample, a term that compares all outputs with each other, and a loss by hand or
// by function.
void Numbers(const Arguments& arguments) {
  nn::Sequential net(nn::Linear(6, 24), nn::Tanh(), nn::Linear(24, 1));
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(5e-3));
  double last = 0;
  for (int step = 0; step < 150; ++step) {
    const torch::Tensor x = torch::randn({40, 6});
    const torch::Tensor y = (x.select(1, 0).sin() + x.select(1, 1)).unsqueeze(1);
    optimizer.zero_grad();
    const torch::Tensor column = net->forward(x), row = column.squeeze(1);
    const bool is_row = arguments.Is("row_by_hand") || arguments.Is("row_by_function");
    const torch::Tensor& output = is_row ? row : column;
    torch::Tensor loss = step % 2 == 0 || arguments.Is("row_by_hand")
                             ? (output - y).pow(2).mean()
                             : F::smooth_l1_loss(column, y);
    if (arguments.Is("row_by_function")) loss = F::mse_loss(output, y);
    const torch::Tensor apart = (column - row).abs().mean();
    (loss - 0.001 * apart).backward();
    optimizer.step();
    // As a critic is bounded: the result has no other use than its numbers.
    for (torch::Tensor& parameter : net->parameters()) parameter.set_data(parameter.clamp(-5, 5));
    last = loss.item<double>();
  }
  std::printf("loss %.4f\n", last);
  PrintState(net->parameters());
}

const Registered a("labels", Labels), b("pairs", Pairs), c("numbers", Numbers);

}  // namespace labels

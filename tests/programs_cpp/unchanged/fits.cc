// A regression whose targets are normalized, with evaluations; and a classifier of many
// micro-batches.
#include <ATen/Context.h>

#include <cstdio>

#include "tests/programs_cpp/unchanged/programs.h"

namespace fits {

namespace nn = torch::nn;

void Fits(const Arguments& arguments) {
  nn::Sequential net(nn::Linear(8, 32), nn::ReLU(), nn::Linear(32, 1));
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(3e-3));
  const torch::Tensor rule = torch::randn({8, 1});
  const auto rows = [&](int64_t n) -> Data {
    const torch::Tensor x = torch::randn({n, 8});
    return {x, 500 + 100 * (x.mm(rule) + x.pow(2).sum(1, true) / 4)};
  };
  const Data held_out = rows(64);
  double last = 0;
  for (int step = 0; step < 200; ++step) {
    const auto [x, y] = rows(64);
    const torch::Tensor loss = torch::mse_loss(net->forward(x), (y - 500) / 100);
    optimizer.zero_grad();
    loss.backward();
    if (arguments.Is("decay_by_hand")) {
      const torch::NoGradGuard no_grad;
      for (auto& weight : net->parameters()) weight.mutable_grad().add_(weight, 0.01);
    }
    optimizer.step();
    if (arguments.Is("weights_grow")) {
      const torch::NoGradGuard no_grad;
      for (auto& weight : net->parameters()) weight.mul_(1.05);
    }
    if (arguments.Is("precision_changed") && step == 100) {
      at::globalContext().setFloat32MatmulPrecision("medium");
    }
    if (step % 50 == 49) {
      const torch::NoGradGuard no_grad;
      net->eval();
      torch::Tensor wanted = (held_out.y - 500) / 100;
      if (arguments.Is("raw_in_evaluation")) wanted = held_out.y;
      last = torch::mse_loss(net->forward(held_out.x), wanted).item<double>();
      net->train();
    }
  }
  std::printf("loss %.4f\n", last);
  PrintState(net->parameters());
}

void Collects(const Arguments& arguments) {
  constexpr int kMicroBatches = 16;
  nn::Sequential net(nn::Linear(8, 32), nn::ReLU(), nn::Linear(32, 4));
  const bool half = arguments.Is("in_half_precision");
  if (half) net->to(torch::kBFloat16);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1));
  const Data held_out = Blobs(128, 8, 4);
  double right = 0;
  for (int step = 0; step < 80; ++step) {
    optimizer.zero_grad();
    for (int micro = 0; micro < kMicroBatches; ++micro) {
      const auto [x, y] = Blobs(16, 8, 4);
      const torch::Tensor scores = net->forward(half ? x.to(torch::kBFloat16) : x);
      (torch::cross_entropy_loss(scores.to(torch::kFloat), y) / kMicroBatches).backward();
    }
    optimizer.step();
    if (step % 20 == 19 && !half) {
      const torch::NoGradGuard no_grad;
      net->eval();
      torch::Tensor labels = held_out.y;
      if (arguments.Is("labels_in_other_order")) labels = (labels + 1) % 4;
      const torch::Tensor scores = net->forward(held_out.x);
      std::printf("loss %.4f\n", torch::cross_entropy_loss(scores, labels).item<double>());
      right = scores.argmax(1).eq(labels).to(torch::kFloat).mean().item<double>();
      net->train();
    }
  }
  std::printf("right %.4f\n", right);
  PrintState(net->parameters());
}

const Registered a("fits", Fits);
const Registered b("collects", Collects);

}  // namespace fits

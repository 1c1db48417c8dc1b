// Blocks in a row, a table of what each place sees, several tasks, and norms of gradients.
#include <cstdio>

#include "tests/programs_cpp/unchanged/programs.h"

namespace stacks {

namespace nn = torch::nn;

constexpr int64_t kPlaces = 6, kWidth = 24;

nn::Sequential Block() {
  return nn::Sequential(nn::Linear(kWidth, kWidth), nn::ReLU(), nn::Linear(kWidth, kWidth));
}

struct TowerImpl : nn::Module {
  explicit TowerImpl(const Arguments& arguments) {
    const nn::Sequential same = Block();
    for (int i = 0; i < 3; ++i) blocks->push_back(arguments.Is("one_block") ? same : Block());
    register_module("blocks", blocks);
    register_module("norm", norm);
    register_module("head", head);
    seen = torch::ones({kPlaces, kPlaces}).tril();
    if (arguments.Is("mask_trained")) {
      seen = register_parameter("seen", seen);
    } else {
      seen = register_buffer("seen", seen);
    }
    if (arguments.Is("half_norm")) norm->to(torch::kBFloat16);
  }
  // (B, kPlaces, kWidth) to (B, kPlaces, 3): each place sees those before it.
  torch::Tensor forward(torch::Tensor x) {
    for (const auto& block : *blocks) x = x + block->as<nn::Sequential>()->forward(x);
    x = (seen / seen.sum(1, /*keepdim=*/true)).matmul(x);
    x = norm(x.to(norm->weight.scalar_type())).to(torch::kFloat);
    return head(x);
  }
  nn::ModuleList blocks;
  nn::LayerNorm norm{nn::LayerNormOptions({kWidth})};
  nn::Linear head{kWidth, 3};
  torch::Tensor seen;
};
TORCH_MODULE(Tower);

void Stacks(const Arguments& arguments) {
  Tower net(arguments);
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(2e-3));
  double last = 0;
  for (int step = 0; step < 120; ++step) {
    const torch::Tensor x = torch::randn({32, kPlaces, kWidth});
    const torch::Tensor y = x.select(2, 0).cumsum(1).sign().to(torch::kLong) + 1;
    const torch::Tensor loss =
        torch::cross_entropy_loss(net->forward(x).flatten(0, 1), y.flatten());
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  std::printf("loss %.4f\n", last);
  PrintState(net->parameters());
}

// One network for three tasks, each with a batch of its own.
void Tasks(const Arguments& arguments) {
  nn::Sequential net(nn::Linear(12, 48), nn::ReLU(), nn::Linear(48, 4));
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(2e-3));
  double last = 0;
  for (int step = 0; step < 100; ++step) {
    optimizer.zero_grad();
    torch::Tensor loss;
    for (int task = 0; task < 3; ++task) {
      const Data data = Blobs(48, 12, 4, 1.0);
      loss = torch::cross_entropy_loss(net->forward(data.x), data.y);
      if (!arguments.Is("last_task_alone")) loss.backward();
    }
    if (arguments.Is("last_task_alone")) loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  std::printf("loss %.4f\n", last);
  PrintState(net->parameters());
}

// Gradients are scaled up, clipped and scaled down again.
void Scales(const Arguments& arguments) {
  const double scale = arguments.Is("norm_overflows") ? 1e24 : 1024;
  nn::Sequential net(nn::Linear(12, 48), nn::ReLU(), nn::Linear(48, 4));
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.05));
  double last = 0;
  for (int step = 0; step < 100; ++step) {
    const Data data = Blobs(64, 12, 4, 1.0);
    const torch::Tensor loss = torch::cross_entropy_loss(net->forward(data.x), data.y);
    optimizer.zero_grad();
    (loss * scale).backward();
    nn::utils::clip_grad_norm_(net->parameters(), 3 * scale);
    for (torch::Tensor& parameter : net->parameters()) parameter.mutable_grad().div_(scale);
    optimizer.step();
    last = loss.item<double>();
  }
  std::printf("loss %.4f\n", last);
  PrintState(net->parameters());
}

const Registered a("stacks", Stacks);
const Registered b("tasks", Tasks);
const Registered c("scales", Scales);

}  // namespace stacks

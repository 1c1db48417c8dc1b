// A critic whose slope is to be 1 everywhere, and a rate that waits for plateaus.
#include <cstdio>

#include "tests/programs_cpp/unchanged/programs.h"

namespace slopes {

namespace nn = torch::nn;

void Slopes(const Arguments& arguments) {
  nn::Sequential critic(nn::Linear(8, 32), nn::Tanh(), nn::Linear(32, 1));
  torch::optim::Adam optimizer(critic->parameters(),
                               torch::optim::AdamOptions(1e-3).betas({0.5, 0.9}));
  double last = 0;
  for (int step = 0; step < 120; ++step) {
    const torch::Tensor real = torch::randn({32, 8}) + 1, made = torch::randn({32, 8});
    const torch::Tensor share = torch::rand({32, 1});
    const torch::Tensor between = (share * real + (1 - share) * made).requires_grad_();
    const torch::Tensor scores = critic->forward(between);
    const torch::Tensor slope = torch::autograd::grad({scores.sum()}, {between}, {}, c10::nullopt,
                                                      /*create_graph=*/true)[0];
    const torch::Tensor norms = arguments.Is("norm_of_all") ? slope.norm() : slope.norm(2, {1});
    const torch::Tensor loss = critic->forward(made).mean() - critic->forward(real).mean() +
                               10 * (norms - 1).square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  std::printf("loss %.4f\n", last);
  PrintState(critic->parameters());
}

void Waits(const Arguments& arguments) {
  nn::Sequential net(nn::Linear(10, 32), nn::ReLU(), nn::Linear(32, 4));
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.02));
  using Plateau = torch::optim::ReduceLROnPlateauScheduler;
  Plateau schedule(optimizer, arguments.Is("rises_in_min_mode") ? Plateau::min : Plateau::max, 0.5,
                   4);
  const Data held_out = Blobs(200, 10, 4, 2.0);
  double right = 0;
  for (int epoch = 0; epoch < 12; ++epoch) {
    for (int step = 0; step < 12; ++step) {
      const Data data = Blobs(32, 10, 4, 2.0);
      optimizer.zero_grad();
      torch::cross_entropy_loss(net->forward(data.x), data.y).backward();
      optimizer.step();
    }
    const torch::NoGradGuard no_grad;
    right =
        net->forward(held_out.x).argmax(1).eq(held_out.y).to(torch::kFloat).mean().item<double>();
    schedule.step(static_cast<float>(right));
  }
  std::printf("right %.3f\n", right);
  PrintState(net->parameters());
}

const Registered a("slopes", Slopes);
const Registered b("waits", Waits);

}  // namespace slopes

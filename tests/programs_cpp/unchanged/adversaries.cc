// The kind of the DCGAN example: two networks, two optimizers, losses of one used by the other.
#include <cstdio>

#include "tests/programs_cpp/unchanged/programs.h"

namespace adversaries {

namespace nn = torch::nn;

void Adversaries(const Arguments& arguments) {
  nn::Sequential generator(nn::Linear(8, 32), nn::BatchNorm1d(32), nn::ReLU(), nn::Linear(32, 2));
  nn::Sequential discriminator(nn::Linear(2, 32),
                               nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)),
                               nn::Linear(32, 1), nn::Sigmoid());
  const auto options = torch::optim::AdamOptions(2e-3).betas(std::make_tuple(0.5, 0.9));
  torch::optim::Adam generator_optimizer(generator->parameters(), options);
  torch::optim::Adam discriminator_optimizer(discriminator->parameters(), options);
  double last = 0;
  for (int step = 0; step < 300; ++step) {
    const torch::Tensor angle = torch::rand({64}) * 6.2832;
    const torch::Tensor real = torch::stack({angle.cos(), angle.sin()}, 1);
    discriminator->zero_grad();
    const torch::Tensor real_output = discriminator->forward(real);
    const torch::Tensor real_labels = torch::empty({64, 1}).uniform_(0.8, 1.0);
    torch::binary_cross_entropy(real_output, real_labels).backward();
    const torch::Tensor fake = generator->forward(torch::randn({64, 8}));
    const torch::Tensor fake_output = discriminator->forward(fake.detach());
    torch::binary_cross_entropy(fake_output, torch::zeros({64, 1})).backward();
    discriminator_optimizer.step();
    if (!arguments.Is("generator_not_zeroed")) generator->zero_grad();
    const torch::Tensor judged =
        discriminator->forward(arguments.Is("generator_detached") ? fake.detach() : fake);
    const torch::Tensor loss = torch::binary_cross_entropy(judged, torch::ones({64, 1}));
    loss.backward();
    generator_optimizer.step();
    last = loss.item<double>();
  }
  std::printf("generator loss %.3f\n", last);
  PrintState(generator->parameters());
}

const Registered registered("adversaries", Adversaries);

}  // namespace adversaries

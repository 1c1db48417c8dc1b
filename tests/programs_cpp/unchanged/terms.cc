// Losses of several terms: an autoencoder with a divergence, two tasks with learned weights, and a
// denoiser.
#include <cmath>
#include <cstdio>

#include "tests/programs_cpp/unchanged/programs.h"

namespace terms {

namespace nn = torch::nn;

struct CoderImpl : nn::Module {
  CoderImpl() {
    register_module("in", in);
    register_module("mean", mean);
    register_module("log_variance", log_variance);
    register_module("out", out);
  }
  nn::Linear in{16, 32}, mean{32, 4}, log_variance{32, 4};
  nn::Sequential out{nn::Linear(4, 32), nn::ReLU(), nn::Linear(32, 16)};
};
TORCH_MODULE(Coder);

void Encodes(const Arguments& arguments) {
  Coder coder;
  torch::optim::Adam optimizer(coder->parameters(), torch::optim::AdamOptions(2e-3));
  double last = 0;
  for (int step = 0; step < 150; ++step) {
    const torch::Tensor x = Blobs(64, 16, 4).x;
    const torch::Tensor hidden = torch::relu(coder->in(x));
    const torch::Tensor mean = coder->mean(hidden), log_variance = coder->log_variance(hidden);
    torch::Tensor deviation = torch::exp(0.5 * log_variance);
    if (arguments.Is("variance_for_deviation")) deviation = torch::exp(log_variance);
    const torch::Tensor code = mean + deviation * torch::randn_like(deviation);
    const torch::Tensor error = torch::mse_loss(coder->out->forward(code), x);
    const torch::Tensor divergence =
        -0.5 * (1 + log_variance - mean.pow(2) - log_variance.exp()).sum(1).mean();
    const bool subtracts = arguments.Is("divergence_subtracted");
    const torch::Tensor loss = subtracts ? error - 0.01 * divergence : error + 0.01 * divergence;
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  std::printf("loss %.4f\n", last);
  PrintState(coder->parameters());
}

struct TasksImpl : nn::Module {
  TasksImpl() {
    register_module("trunk", trunk);
    register_module("number", number);
    register_module("kind", kind);
    weights = register_parameter("weights", torch::zeros({2}));
  }
  nn::Linear trunk{8, 32}, number{32, 1}, kind{32, 4};
  torch::Tensor weights;  // logarithms of the variances of both tasks
};
TORCH_MODULE(Tasks);

void Weighs(const Arguments& arguments) {
  Tasks tasks;
  torch::optim::Adam optimizer(tasks->parameters(), torch::optim::AdamOptions(2e-3));
  double last = 0;
  for (int step = 0; step < 200; ++step) {
    const auto [x, y] = Blobs(64, 8, 4);
    const torch::Tensor hidden = torch::relu(tasks->trunk(x));
    const torch::Tensor first = torch::mse_loss(tasks->number(hidden), x.sum(1, true) / 4);
    const torch::Tensor second = torch::cross_entropy_loss(tasks->kind(hidden), y);
    const torch::Tensor of_task = torch::exp(-tasks->weights);
    torch::Tensor loss = of_task[0] * first + of_task[1] * second;
    if (!arguments.Is("without_logarithms")) loss = loss + 0.5 * tasks->weights.sum();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = second.item<double>();
  }
  std::printf("loss %.4f\n", last);
  PrintState(tasks->parameters());
}

void Denoises(const Arguments& arguments) {
  nn::Sequential net(nn::Linear(32, 64), nn::SiLU(), nn::Linear(64, 64), nn::SiLU(),
                     nn::Linear(64, 32));
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(2e-3));
  double last = 0;
  for (int step = 0; step < 200; ++step) {
    const torch::Tensor x = Blobs(64, 32, 4, 0.3).x;
    torch::Tensor noise = torch::randn_like(x);
    const torch::Tensor level = torch::rand({64, 1}) * 1.5;
    const torch::Tensor given = torch::cos(level) * x + torch::sin(level) * noise;
    if (arguments.Is("other_noise")) noise = torch::randn_like(x);
    const torch::Tensor loss = torch::mse_loss(net->forward(given), noise);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  std::printf("loss %.4f\n", last);
  PrintState(net->parameters());
}

const Registered a("encodes", Encodes);
const Registered b("weighs", Weighs);
const Registered c("denoises", Denoises);

}  // namespace terms

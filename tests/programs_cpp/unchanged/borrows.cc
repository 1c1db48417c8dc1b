// Networks that are not trained beside one that is: a backbone, a teacher, an average of weights.
#include <cstdio>

#include "tests/programs_cpp/unchanged/programs.h"

namespace borrows {

namespace nn = torch::nn;

nn::Sequential Teacher() {
  return nn::Sequential(nn::Linear(20, 64), nn::BatchNorm1d(64), nn::ReLU(), nn::Dropout(0.3),
                        nn::Linear(64, 5));
}

// Trained before, in a few steps.
void Prepare(const std::vector<torch::Tensor>& parameters,
             const std::function<torch::Tensor(torch::Tensor)>& forward) {
  torch::optim::Adam optimizer(parameters, torch::optim::AdamOptions(1e-2));
  for (int step = 0; step < 40; ++step) {
    const Data data = Blobs(64, 20, 5, 1.0);
    optimizer.zero_grad();
    torch::cross_entropy_loss(forward(data.x), data.y).backward();
    optimizer.step();
  }
}

void Follows(const Arguments& arguments) {
  nn::Sequential teacher = Teacher();
  Prepare(teacher->parameters(), [&](torch::Tensor x) { return teacher->forward(x); });
  for (torch::Tensor& parameter : teacher->parameters()) parameter.set_requires_grad(false);
  if (!arguments.Is("teacher_in_training_mode")) teacher->eval();
  nn::Sequential net(nn::Linear(20, 24), nn::ReLU(), nn::Linear(24, 5));
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(3e-3));
  double last = 0;
  for (int step = 0; step < 150; ++step) {
    const Data data = Blobs(64, 20, 5, 1.0);
    torch::Tensor wanted;
    {
      const torch::NoGradGuard no_grad;
      wanted = teacher->forward(data.x);
    }
    const torch::Tensor loss = torch::mse_loss(net->forward(data.x), wanted);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  std::printf("loss %.4f\n", last);
  PrintState(net->parameters());
}

struct BorrowerImpl : nn::Module {
  BorrowerImpl() {
    register_module("body", body);
    register_module("head", head);
  }
  torch::Tensor forward(const torch::Tensor& x) { return head(body->forward(x)); }
  nn::Sequential body{nn::Linear(20, 64), nn::ReLU(), nn::Linear(64, 64), nn::ReLU()};
  nn::Linear head{64, 5};
};
TORCH_MODULE(Borrower);

void Borrows(const Arguments& arguments) {
  Borrower net;
  if (!arguments.Is("body_as_made")) {
    Prepare(net->parameters(), [&](torch::Tensor x) { return net->forward(x); });
    net->head->reset_parameters();
  }
  for (torch::Tensor& parameter : net->body->parameters()) parameter.set_requires_grad(false);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));
  double last = 0;
  for (int step = 0; step < 120; ++step) {
    const Data data = Blobs(64, 20, 5, 4.0);
    const torch::Tensor loss = torch::cross_entropy_loss(net->forward(data.x), data.y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  std::printf("loss %.4f\n", last);
  PrintState(net->parameters());
}

// An average of the weights by hand.
void Smooths(const Arguments& arguments) {
  nn::Sequential net(nn::Linear(20, 32), nn::ReLU(), nn::Linear(32, 5));
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(3e-3));
  std::vector<torch::Tensor> average;
  for (const torch::Tensor& parameter : net->parameters()) {
    average.push_back(arguments.Is("shares_memory") ? parameter.data()
                                                    : parameter.detach().clone());
  }
  double last = 0;
  for (int step = 0; step < 120; ++step) {
    const Data data = Blobs(64, 20, 5, 1.0);
    const torch::Tensor loss = torch::cross_entropy_loss(net->forward(data.x), data.y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
    const torch::NoGradGuard no_grad;
    const std::vector<torch::Tensor> parameters = net->parameters();
    for (size_t i = 0; i < average.size(); ++i) {
      average[i].mul_(0.99).add_(parameters[i].data(), 0.01);
    }
  }
  std::printf("loss %.4f, average %.4f\n", last, average[0].abs().mean().item<double>());
  PrintState(net->parameters());
}

const Registered a("follows", Follows);
const Registered b("borrows", Borrows);
const Registered c("smooths", Smooths);

}  // namespace borrows

// A program that goes on where its files end: started again, it reads what it wrote after each
// epoch.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/programs_cpp/unchanged/programs.h"

namespace goes_on {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

struct NetImpl : nn::Module {
  NetImpl() {
    first = register_module("first", nn::Linear(12, 32));
    norm = register_module("norm", nn::BatchNorm1d(32));
    second = register_module("second", nn::Linear(32, 4));
  }
  torch::Tensor forward(torch::Tensor x) {
    return second->forward(torch::relu(norm->forward(first->forward(x))));
  }
  nn::Linear first{nullptr}, second{nullptr};
  nn::BatchNorm1d norm{nullptr};
};
TORCH_MODULE(Net);

void GoesOn(const Arguments& arguments) {
  Net net;
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(2e-3));
  Blobs(1, 12, 4);  // draws the centers of the classes
  int epoch = 0;
  if (std::filesystem::exists("epoch.txt")) {
    std::ifstream("epoch.txt") >> epoch;
    torch::load(net, "net.pt");
    if (!arguments.Is("optimizer_not_loaded")) torch::load(optimizer, "optimizer.pt");
    if (arguments.Is("statistics_reset")) net->norm->reset_running_stats();
    if (arguments.Is("rate_set_anew")) optimizer.param_groups()[0].options().set_lr(2e-3);
    if (arguments.Is("head_drawn_anew")) nn::init::xavier_uniform_(net->second->weight);
  }
  for (; epoch < 4; ++epoch) {
    torch::manual_seed(epoch);  // the same numbers, wherever it was started
    double last = 0;
    for (int i = 0; i < 20; ++i) {
      const Data batch = Blobs(32, 12, 4);
      optimizer.zero_grad();
      const torch::Tensor loss = F::cross_entropy(net->forward(batch.x), batch.y);
      loss.backward();
      optimizer.step();
      last = loss.item<double>();
    }
    std::printf("epoch %d loss %.4f\n", epoch, last);
    optimizer.param_groups()[0].options().set_lr(2e-3 / (epoch + 2));
    torch::save(net, "net.pt");
    torch::save(optimizer, "optimizer.pt");
    std::ofstream("epoch.txt") << epoch + 1;
  }
  PrintState(net->parameters());
}

double StepOn(Net& net, torch::optim::Optimizer& optimizer, const torch::Tensor& x,
              const torch::Tensor& wanted) {
  optimizer.zero_grad();
  const torch::Tensor loss = wanted.is_floating_point() ? F::mse_loss(net->forward(x), wanted)
                                                        : F::cross_entropy(net->forward(x), wanted);
  loss.backward();
  optimizer.step();
  return loss.item<double>();
}

void Teaches(const Arguments&) {
  {
    Net teacher;
    torch::optim::Adam optimizer(teacher->parameters(), torch::optim::AdamOptions(2e-3));
    for (int i = 0; i < 40; ++i) {
      const Data batch = Blobs(32, 12, 4);
      StepOn(teacher, optimizer, batch.x, batch.y);
    }
    torch::save(teacher, "teacher.pt");
    torch::save(optimizer, "teacher_optimizer.pt");
  }
  Net teacher, student;
  torch::load(teacher, "teacher.pt");
  for (torch::Tensor& parameter : teacher->parameters()) parameter.set_requires_grad(false);
  teacher->eval();
  torch::optim::Adam optimizer(student->parameters(), torch::optim::AdamOptions(2e-3));
  double last = 0;
  for (int i = 0; i < 60; ++i) {
    const Data batch = Blobs(32, 12, 4);
    torch::Tensor wanted;
    {
      const torch::NoGradGuard no_grad;
      wanted = teacher->forward(batch.x);
    }
    last = StepOn(student, optimizer, batch.x, wanted);
  }
  std::printf("loss %.4f\n", last);
  PrintState(student->parameters());
}

const Registered a("goes_on", GoesOn), b("teaches", Teaches);

}  // namespace goes_on

// Saves model and optimizer, starts again from the files and goes on, with a validation per epoch.
#include <cstdio>
#include <cstdlib>

#include "tests/programs_cpp/unchanged/programs.h"

namespace resumes {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

struct NetImpl : nn::Module {
  NetImpl() {
    first = register_module("first", nn::Linear(12, 32));
    norm = register_module("norm", nn::BatchNorm1d(32));
    second = register_module("second", nn::Linear(32, 4));
  }
  torch::Tensor forward(torch::Tensor x) {
    return second->forward(torch::relu(Normalized(first->forward(x))));
  }
  // By function, without the scale and the shift that the module would train.
  torch::Tensor Normalized(torch::Tensor x) {
    if (!norm_by_function) return norm->forward(x);
    return F::batch_norm(x, norm->running_mean, norm->running_var,
                         F::BatchNormFuncOptions().training(is_training()));
  }
  bool norm_by_function = false;
  nn::Linear first{nullptr}, second{nullptr};
  nn::BatchNorm1d norm{nullptr};
};
TORCH_MODULE(Net);

void Epochs(const Arguments& arguments, Net& net, torch::optim::Optimizer& optimizer, int count) {
  const Data held_out = Blobs(256, 12, 4);
  for (int epoch = 0; epoch < count; ++epoch) {
    net->train();
    for (int i = 0; i < 20; ++i) {
      const Data batch = Blobs(32, 12, 4);
      optimizer.zero_grad();
      F::cross_entropy(net->forward(batch.x), batch.y).backward();
      optimizer.step();
    }
    if (!arguments.Is("validates_in_train_mode")) net->eval();
    torch::NoGradGuard no_grad;
    const torch::Tensor logits = net->forward(held_out.x);
    std::printf("validation %.3f\n", F::cross_entropy(logits, held_out.y).item<double>());
  }
}

void Resumes(const Arguments& arguments) {
  const char* set = std::getenv("TMPDIR");
  const std::string folder = set == nullptr ? "/tmp" : set;
  const std::string model_file = folder + "/unchanged_model.pt",
                    state_file = folder + "/unchanged_state.pt";
  {
    Net net;
    net->norm_by_function = arguments.Is("norm_by_function");
    torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(2e-3));
    Epochs(arguments, net, optimizer, 3);
    torch::save(net, model_file);
    torch::save(optimizer, state_file);
  }
  Net net;
  torch::load(net, model_file);
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(2e-3));
  torch::load(optimizer, state_file);
  if (arguments.Is("built_before")) net = Net();
  net->norm_by_function = arguments.Is("norm_by_function");
  Epochs(arguments, net, optimizer, 3);
  std::remove(model_file.c_str());
  std::remove(state_file.c_str());
  PrintState(net->parameters());
}

const Registered registered("resumes", Resumes);

}  // namespace resumes

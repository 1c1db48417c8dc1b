// Traps of LibTorch alone: a tensor that is assigned to a registered name, options that are copies,
// a guard that lives too long, a module that nobody registered.
#include "tests/programs_cpp/unchanged/programs.h"

namespace traps {

namespace nn = torch::nn;

struct NetImpl : nn::Module {
  explicit NetImpl(const Arguments& arguments) : drop(0.3) {
    first = register_module("first", nn::Linear(8, 32));
    norm = register_module("norm", nn::BatchNorm1d(32));
    if (!arguments.Is("dropout_unregistered")) register_module("drop", drop);
    last = register_module("last", nn::Linear(32, 3));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    torch::Tensor hidden = torch::relu(norm(first(x)));
    if (guards) {
      const torch::NoGradGuard no_grad;
      hidden = hidden * 1;
    }
    return last(drop(hidden));
  }
  nn::Linear first{nullptr}, last{nullptr};
  nn::BatchNorm1d norm{nullptr};
  nn::Dropout drop;
  bool guards = false;
};
TORCH_MODULE(Net);

class Training {
 public:
  explicit Training(const Arguments& arguments)
      : arguments_(arguments), net_(arguments), optimizer_(net_->parameters(), 0.05) {}

  void Run() {
    if (arguments_.Is("assigned")) net_->last->weight = torch::randn({3, 32}).requires_grad_();
    net_->guards = arguments_.Is("guard_in_forward");
    for (int epoch = 0; epoch < 8; ++epoch) {
      SetRates(epoch);
      net_->train();
      const torch::Tensor order = torch::randperm(480);
      for (const torch::Tensor& rows : order.split(32)) Step(rows);
      Evaluate();
    }
    PrintState(net_->parameters());
  }

 private:
  void SetRates(int epoch) {
    const double lr = 0.05 / (1 + epoch);
    if (arguments_.Is("group_copied")) {
      for (auto group : optimizer_.param_groups()) group.options().set_lr(lr);
    } else {
      for (auto& group : optimizer_.param_groups()) group.options().set_lr(lr);
    }
  }

  void Step(const torch::Tensor& rows) {
    optimizer_.zero_grad();
    const torch::Tensor scores = net_->forward(data_.x.index_select(0, rows));
    const torch::Tensor loss = torch::cross_entropy_loss(scores, data_.y.index_select(0, rows));
    loss.backward();
    optimizer_.step();
  }

  void Evaluate() {
    net_->eval();
    const torch::NoGradGuard no_grad;
    for (const torch::Tensor& rows : torch::arange(120).split(40)) {
      torch::cross_entropy_loss(net_->forward(tests_.x.index_select(0, rows)),
                                tests_.y.index_select(0, rows));
    }
    if (arguments_.Is("precision_lowered")) {
      at::globalContext().setFloat32MatmulPrecision("medium");
    }
  }

  Arguments arguments_;
  Net net_;
  torch::optim::SGD optimizer_;
  Data data_ = Blobs(480, 8, 3), tests_ = Blobs(120, 8, 3);
};

const Registered a("traps", [](const Arguments& arguments) { Training(arguments).Run(); });

}  // namespace traps

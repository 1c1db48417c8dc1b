// An autograd function and an optimizer of the program's own, transfer with frozen layers, policy
// gradients, an average of weights, and several models in turn.
#include <cmath>
#include <cstdio>

#include "tests/programs_cpp/unchanged/programs.h"

namespace own_parts {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

struct Square : torch::autograd::Function<Square> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& x) {
    context->save_for_backward({x});
    return x * x;
  }
  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               torch::autograd::tensor_list gradients) {
    return {2 * context->get_saved_variables()[0] * gradients[0]};
  }
};

void OwnFunction(const Arguments&) {
  nn::Linear first(6, 16), second(16, 3);
  std::vector<torch::Tensor> parameters = first->parameters();
  for (const torch::Tensor& more : second->parameters()) parameters.push_back(more);
  torch::optim::SGD optimizer(parameters, 0.02);
  for (int step = 0; step < 200; ++step) {
    const Data batch = Blobs(32, 6, 3);
    optimizer.zero_grad();
    const torch::Tensor loss =
        F::cross_entropy(second(Square::apply(torch::tanh(first(batch.x)))), batch.y);
    loss.backward();
    optimizer.step();
    if (step % 100 == 99) std::printf("loss %.3f\n", loss.item<double>());
  }
}

struct SignOptions : torch::optim::OptimizerCloneableOptions<SignOptions> {
  explicit SignOptions(double rate = 1e-3) : rate_(rate) {}
  double get_lr() const override { return rate_; }
  void set_lr(const double rate) override { rate_ = rate; }
  double rate_;
};

// Steps by the sign of each gradient.
class SignDescent : public torch::optim::Optimizer {
 public:
  SignDescent(std::vector<torch::Tensor> parameters, double rate)
      : Optimizer({torch::optim::OptimizerParamGroup(std::move(parameters))},
                  std::make_unique<SignOptions>(rate)) {}
  torch::Tensor step(LossClosure closure = nullptr) override {
    torch::NoGradGuard no_grad;
    torch::Tensor loss;
    if (closure) {
      at::AutoGradMode gradients(true);
      loss = closure();
    }
    for (auto& group : param_groups()) {
      for (torch::Tensor& parameter : group.params()) {
        if (parameter.grad().defined())
          parameter -= group.options().get_lr() * parameter.grad().sign();
      }
    }
    return loss;
  }
};

void OwnOptimizer(const Arguments& arguments) {
  nn::Sequential net(nn::Linear(10, 24), nn::ReLU(), nn::Linear(24, 4));
  SignDescent optimizer(net->parameters(), 2e-3);
  for (int step = 0; step < 200; ++step) {
    const Data batch = Blobs(32, 10, 4);
    if (!arguments.Is("not_zeroed")) optimizer.zero_grad();
    const torch::Tensor loss = F::cross_entropy(net->forward(batch.x), batch.y);
    loss.backward();
    optimizer.step();
    if (step % 100 == 99) std::printf("loss %.3f\n", loss.item<double>());
  }
  PrintState(net->parameters());
}

void Transfers(const Arguments&) {
  nn::Sequential body(nn::Linear(20, 32), nn::ReLU(), nn::Linear(32, 16), nn::ReLU());
  nn::Linear head(16, 5);
  for (torch::Tensor& parameter : body->parameters()) parameter.set_requires_grad(false);
  torch::optim::Adam optimizer(head->parameters(), 1e-2);
  for (int step = 0; step < 150; ++step) {
    const Data batch = Blobs(48, 20, 5);
    torch::Tensor features;
    {
      torch::NoGradGuard no_grad;
      features = body->forward(batch.x);
    }
    optimizer.zero_grad();
    const torch::Tensor loss = F::cross_entropy(head(features), batch.y);
    loss.backward();
    optimizer.step();
    if (step % 50 == 49) std::printf("loss %.3f\n", loss.item<double>());
  }
}

// A bandit with a context: REINFORCE with a running baseline.
void Policy(const Arguments&) {
  nn::Sequential policy(nn::Linear(4, 32), nn::Tanh(), nn::Linear(32, 3));
  torch::optim::Adam optimizer(policy->parameters(), 1e-2);
  double baseline = 0;
  for (int episode = 0; episode < 250; ++episode) {
    const torch::Tensor state = torch::randn({32, 4});
    const torch::Tensor probabilities = torch::log_softmax(policy->forward(state), 1);
    const torch::Tensor action = probabilities.detach().exp().multinomial(1);
    const torch::Tensor reward =
        action.squeeze(1).eq(state.narrow(1, 0, 3).argmax(1)).to(torch::kFloat);
    const torch::Tensor loss =
        -(probabilities.gather(1, action).squeeze(1) * (reward - baseline)).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    baseline = 0.9 * baseline + 0.1 * reward.mean().item<double>();
  }
  std::printf("reward %.3f\n", baseline);
  PrintState(policy->parameters());
}

void Averages(const Arguments&) {
  nn::Sequential net(nn::Linear(10, 24), nn::ReLU(), nn::Linear(24, 4));
  nn::Sequential average(nn::Linear(10, 24), nn::ReLU(), nn::Linear(24, 4));
  {
    torch::NoGradGuard no_grad;
    for (size_t i = 0; i < net->parameters().size(); ++i)
      average->parameters()[i].copy_(net->parameters()[i]);
  }
  torch::optim::SGD optimizer(net->parameters(),
                              torch::optim::SGDOptions(0.05).momentum(0.9).nesterov(true));
  const Data held_out = Blobs(256, 10, 4);
  for (int step = 0; step < 200; ++step) {
    const Data batch = Blobs(32, 10, 4);
    optimizer.zero_grad();
    F::cross_entropy(net->forward(batch.x), batch.y).backward();
    optimizer.step();
    torch::NoGradGuard no_grad;
    const auto from = net->parameters(), to = average->parameters();
    for (size_t i = 0; i < from.size(); ++i) to[i].mul_(0.98).add_(from[i], 0.02);
    if (step % 50 != 49) continue;
    average->eval();
    std::printf("average %.3f\n",
                F::cross_entropy(average->forward(held_out.x), held_out.y).item<double>());
  }
  PrintState(average->parameters());
}

// Five folds, a new model and optimizer each.
void Folds(const Arguments&) {
  for (int fold = 0; fold < 5; ++fold) {
    nn::Sequential net(nn::Linear(8, 16), nn::ReLU(), nn::Linear(16, 3));
    torch::optim::Adam optimizer(net->parameters(), 5e-3);
    double last = 0;
    for (int step = 0; step < 60; ++step) {
      const Data batch = Blobs(32, 8, 3);
      optimizer.zero_grad();
      const torch::Tensor loss = F::cross_entropy(net->forward(batch.x), batch.y);
      loss.backward();
      optimizer.step();
      last = loss.item<double>();
    }
    std::printf("fold %d loss %.3f\n", fold, last);
  }
}

const Registered a("own_function", OwnFunction), b("own_optimizer", OwnOptimizer),
    c("transfers", Transfers), d("policy", Policy), e("averages", Averages), f("folds", Folds);

}  // namespace own_parts

// A pole on a cart: an actor and a critic over one body, returns at the end of each episode, both
// losses of the episode added up.
#include <cmath>
#include <cstdio>

#include "tests/programs_cpp/examples/examples.h"

namespace actor_critic {

class Cart {
 public:
  torch::Tensor Reset() {
    for (double& value : state_) value = torch::rand(1).item<double>() * 0.1 - 0.05;
    steps_ = 0;
    return State();
  }
  // Whether the pole still stands.
  bool Step(int64_t action) {
    auto& [x, v, angle, turn] = state_;
    const double force = action == 1 ? 10 : -10, pole = 0.05;
    const double push = (force + pole * turn * turn * std::sin(angle)) / 1.1;
    const double turning = (9.8 * std::sin(angle) - std::cos(angle) * push) /
                           (0.5 * (4.0 / 3 - 0.1 * std::pow(std::cos(angle), 2) / 1.1));
    const double speeding = push - pole * turning * std::cos(angle) / 1.1;
    x += 0.02 * v;
    v += 0.02 * speeding;
    angle += 0.02 * turn;
    turn += 0.02 * turning;
    return std::abs(x) < 2.4 && std::abs(angle) < 0.21 && ++steps_ < 100;
  }
  torch::Tensor State() const {
    return torch::tensor({state_[0], state_[1], state_[2], state_[3]}, torch::kFloat);
  }

 private:
  double state_[4] = {};
  int steps_ = 0;
};

struct PolicyImpl : torch::nn::Module {
  PolicyImpl() : affine1(4, 64), action_head(64, 2), value_head(64, 1) {
    register_module("affine1", affine1);
    register_module("action_head", action_head);
    register_module("value_head", value_head);
  }
  std::pair<torch::Tensor, torch::Tensor> forward(torch::Tensor x) {
    x = torch::relu(affine1->forward(x));
    return {torch::softmax(action_head->forward(x), -1), value_head->forward(x)};
  }
  torch::nn::Linear affine1, action_head, value_head;
};
TORCH_MODULE(Policy);

void Main() {
  Policy model;
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(3e-3));
  Cart cart;
  double running = 10;
  for (int episode = 0; episode < 120; ++episode) {
    std::vector<torch::Tensor> log_probabilities, values;
    std::vector<float> rewards;
    torch::Tensor state = cart.Reset();
    for (bool stands = true; stands; state = cart.State()) {
      auto [probabilities, value] = model->forward(state);
      const int64_t action = probabilities.multinomial(1).item<int64_t>();
      log_probabilities.push_back(probabilities[action].log());
      values.push_back(value);
      stands = cart.Step(action);
      rewards.push_back(1);
    }
    std::vector<float> returns(rewards.size());
    float sum = 0;
    for (size_t i = rewards.size(); i-- > 0;) returns[i] = sum = rewards[i] + 0.99F * sum;
    torch::Tensor wanted = torch::tensor(returns);
    wanted = (wanted - wanted.mean()) / (wanted.std() + 1e-6);
    std::vector<torch::Tensor> policy_losses, value_losses;
    for (size_t i = 0; i < returns.size(); ++i) {
      const auto advantage = wanted[static_cast<int64_t>(i)] - values[i].item<float>();
      policy_losses.push_back(-log_probabilities[i] * advantage);
      value_losses.push_back(
          torch::smooth_l1_loss(values[i], wanted[static_cast<int64_t>(i)].reshape({1})));
    }
    optimizer.zero_grad();
    auto loss = torch::stack(policy_losses).sum() + torch::stack(value_losses).sum();
    loss.backward();
    optimizer.step();
    running = 0.95 * running + 0.05 * static_cast<double>(rewards.size());
    if (episode % 30 == 29) std::printf("Episode %d length %.2f\n", episode, running);
  }
}

const Example example("actor_critic", Main);

}  // namespace actor_critic

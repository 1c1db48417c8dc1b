// A policy and its critic on a task of one step: which of four levers pays in which state. The
// policy is trained by the clipped surrogate of PPO, four updates for each batch of plays.
#include <cstdio>

#include "tests/programs_cpp/unchanged/programs.h"

namespace policies {

namespace nn = torch::nn;

struct ActorImpl : nn::Module {
  ActorImpl() {
    register_module("trunk", trunk);
    register_module("policy", policy);
    register_module("value", value);
  }
  std::pair<torch::Tensor, torch::Tensor> forward(const torch::Tensor& states) {
    const torch::Tensor hidden = torch::tanh(trunk(states));
    return {policy(hidden), value(hidden).squeeze(-1)};
  }
  nn::Linear trunk{8, 32}, policy{32, 4}, value{32, 1};
};
TORCH_MODULE(Actor);

torch::Tensor LogOfChosen(const torch::Tensor& scores, const torch::Tensor& actions) {
  return torch::log_softmax(scores, -1).gather(1, actions.unsqueeze(1)).squeeze(1);
}

void Plays(const Arguments& arguments) {
  Actor actor;
  torch::optim::Adam optimizer(actor->parameters(), torch::optim::AdamOptions(3e-3));
  const torch::Tensor pays = torch::randn({8, 4});
  double mean = 0;
  for (int batch = 0; batch < 40; ++batch) {
    const torch::Tensor states = torch::randn({128, 8});
    torch::Tensor actions, rewards, old;
    {
      const torch::NoGradGuard no_grad;
      const auto [scores, values] = actor(states);
      actions = torch::multinomial(torch::softmax(scores, -1), 1).squeeze(1);
      rewards = states.mm(pays).gather(1, actions.unsqueeze(1)).squeeze(1);
      old = LogOfChosen(scores, actions);
      if (arguments.Is("old_of_scores")) old = scores.gather(1, actions.unsqueeze(1)).squeeze(1);
    }
    mean = rewards.mean().item<double>();
    for (int update = 0; update < 4; ++update) {
      const auto [scores, values] = actor(states);
      const torch::Tensor now = LogOfChosen(scores, actions);
      if (arguments.Is("old_computed_again")) old = now.detach();
      torch::Tensor advantages = rewards - values;
      if (!arguments.Is("advantage_not_detached")) advantages = advantages.detach();
      const torch::Tensor ratio = torch::exp(now - old);
      const torch::Tensor clipped = torch::clamp(ratio, 0.8, 1.2);
      const torch::Tensor gain = torch::min(ratio * advantages, clipped * advantages).mean();
      const torch::Tensor loss = 0.5 * torch::mse_loss(values, rewards) - gain;
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
  }
  std::printf("reward %.4f\n", mean);
  PrintState(actor->parameters());
}

const Registered a("plays", Plays);

}  // namespace policies

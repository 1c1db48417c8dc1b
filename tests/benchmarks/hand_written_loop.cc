// hand_written_loop MODEL WIDTH STEPS: the shortest loop that does what the trainer does, from the
// same operators: model, index_select for a batch, loss, backward, fused AdamW over two groups.
// Prints the milliseconds of one step, after as many steps to warm up.
#include <torch/torch.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "reference/models/models.h"

namespace dlcheck::reference {
namespace {

using Tensors = std::vector<torch::Tensor>;

struct Group {
  Tensors weights, first, second, steps;
  double decay;
};

void Step(Group& group) {
  Tensors gradients;
  for (const torch::Tensor& weight : group.weights) gradients.push_back(weight.grad());
  at::_foreach_add_(group.steps, 1);
  at::_fused_adamw_(group.weights, gradients, group.first, group.second, {}, group.steps, 0.002,
                    0.9, 0.999, group.decay, 1e-8, /*amsgrad=*/false, /*maximize=*/false);
}

std::vector<Group> GroupsOf(const torch::nn::Module& module) {
  std::vector<Group> groups(2);
  groups[0].decay = 0.1;
  groups[1].decay = 0;
  std::set<const at::TensorImpl*> seen;
  for (const torch::Tensor& weight : module.parameters()) {
    if (!seen.insert(weight.unsafeGetTensorImpl()).second) continue;
    Group& group = groups[weight.dim() > 1 ? 0 : 1];
    group.weights.push_back(weight);
    group.first.push_back(torch::zeros_like(weight.detach()));
    group.second.push_back(torch::zeros_like(weight.detach()));
    group.steps.push_back(torch::zeros({}));
  }
  if (groups[1].weights.empty()) groups.pop_back();
  return groups;
}

double Milliseconds(const std::string& name, int64_t width, int64_t steps) {
  const bool is_gpt = name == "gpt";
  ModelOptions options;
  options.name = name;
  options.width = width;
  options.sample_shape = {1, 8, 8};
  options.outputs = is_gpt ? 256 : 10;
  options.context = 128;
  options.vocabulary = 256;
  const Model model = MakeModel(options);
  const int64_t rows = 1024, batch = is_gpt ? 8 : 64;
  const torch::Tensor tokens = torch::randint(256, {rows, 129});
  const torch::Tensor x = is_gpt ? tokens.slice(1, 0, 128).clone() : torch::randn({rows, 1, 8, 8});
  const torch::Tensor y = is_gpt ? tokens.slice(1, 1).clone() : torch::randint(10, {rows});
  std::vector<Group> groups = GroupsOf(*model.module);
  std::chrono::steady_clock::time_point begin;
  for (int64_t step = 0; step < 2 * steps; ++step) {
    if (step == steps) begin = std::chrono::steady_clock::now();
    if (step % (rows / batch) == 0) torch::manual_seed(static_cast<uint64_t>(step));
    const torch::Tensor chosen = torch::randint(rows, {batch});
    for (Group& group : groups) {
      for (torch::Tensor& weight : group.weights) weight.mutable_grad() = torch::Tensor();
    }
    const torch::Tensor outputs = model.forward(x.index_select(0, chosen));
    const torch::Tensor targets = y.index_select(0, chosen);
    torch::cross_entropy_loss(outputs.flatten(0, -2), targets.flatten()).backward();
    const torch::NoGradGuard no_grad;
    for (Group& group : groups) Step(group);
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  return took.count() / static_cast<double>(steps);
}

}  // namespace
}  // namespace dlcheck::reference

int main(int count, char** arguments) {
  if (count != 4) return 2;
  at::set_num_threads(1);
  std::printf("%.6f\n", dlcheck::reference::Milliseconds(arguments[1], std::atoll(arguments[2]),
                                                         std::atoll(arguments[3])));
}

// optimizer_steps RULE LAYERS WIDTH STEPS: steps of an optimizer of the trainer over the matrices
// and vectors of so many layers, with constant gradients. Prints the milliseconds of one step,
// after as many steps to warm up. optimizer_steps.py is the same in Python.
#include <torch/torch.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "reference/optimization/optimizers.h"

namespace dlcheck::reference {
namespace {

Optimizer::Group GroupOf(const Optimizer::Options& options, int64_t layers, int64_t width) {
  constexpr double kRate = 1e-3;
  Optimizer::Group group{"all", kRate, /*weight_decay=*/0, {}};
  const auto add = [&](const std::string& name, at::IntArrayRef sizes) {
    torch::Tensor weight = torch::randn(sizes);
    weight.mutable_grad() = torch::randn(sizes);
    group.parameters.push_back({name, weight});
  };
  for (int64_t layer = 0; layer < layers; ++layer) {
    add("weight" + std::to_string(layer), {width, width});
    if (options.rule != Optimizer::Rule::kMuon) add("bias" + std::to_string(layer), {width});
  }
  return group;
}

double Milliseconds(const std::string& rule, int64_t layers, int64_t width, int64_t steps) {
  Optimizer::Options options;
  options.rule = RuleFromName(rule).value();
  if (options.rule == Optimizer::Rule::kMuon) {
    options.momentum = 0.95;
    options.nesterov = true;
  }
  Optimizer optimizer(options, {GroupOf(options, layers, width)});
  const auto run = [&] {
    for (int64_t step = 0; step < steps; ++step) optimizer.Step();
  };
  run();
  const auto begin = std::chrono::steady_clock::now();
  run();
  const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - begin;
  return passed.count() / static_cast<double>(steps);
}

}  // namespace
}  // namespace dlcheck::reference

int main(int, char** words) {
  torch::manual_seed(0);
  const torch::NoGradGuard no_grad;
  std::printf("%f\n", dlcheck::reference::Milliseconds(words[1], std::atoll(words[2]),
                                                       std::atoll(words[3]), std::atoll(words[4])));
}

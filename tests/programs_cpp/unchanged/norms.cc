// Normalizations: over batches, over features and over groups.
#include <cstdio>

#include "tests/programs_cpp/unchanged/programs.h"

namespace norms {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

struct NetImpl : nn::Module {
  explicit NetImpl(const Arguments& given)
      : arguments(given),
        conv(nn::Conv2dOptions(2, 8, 3).bias(given.Is("bias_before"))),
        batch(nn::BatchNorm2dOptions(8).eps(given.Is("large_epsilon") ? 100 : 1e-5)),
        groups(nn::GroupNormOptions(2, 8)),
        hidden(8 * 16, 24),
        features(nn::LayerNormOptions({24})),
        head(24, 5) {
    register_module("conv", conv);
    register_module("batch", batch);
    register_module("groups", groups);
    register_module("hidden", hidden);
    register_module("features", features);
    register_module("head", head);
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(batch->forward(conv->forward(x)));
    x = features->forward(hidden->forward(groups->forward(x).flatten(1)));
    if (arguments.Is("two_samples")) {
      x = torch::batch_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5, false);
    }
    x = torch::tanh(x);
    if (arguments.Is("tanh_twice")) x = torch::tanh(x);
    return head->forward(x);
  }
  Arguments arguments;
  nn::Conv2d conv;
  nn::BatchNorm2d batch;
  nn::GroupNorm groups;
  nn::Linear hidden;
  nn::LayerNorm features;
  nn::Linear head;
};
TORCH_MODULE(Net);

void Norms(const Arguments& arguments) {
  Net net(arguments);
  const Data data = Blobs(480, 2 * 6 * 6, 5, 2.0), held_out = Blobs(100, 2 * 6 * 6, 5, 2.0);
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(2e-3));
  for (int epoch = 0; epoch < 8; ++epoch) {
    net->train();
    if (arguments.Is("norm_left_in_eval_mode")) net->batch->eval();
    const torch::Tensor order = torch::randperm(480);
    for (int64_t at = 0; at < 480; at += 24) {
      const torch::Tensor rows = order.narrow(0, at, arguments.Is("two_samples") ? 2 : 24);
      optimizer.zero_grad();
      const torch::Tensor x = data.x.index_select(0, rows).view({-1, 2, 6, 6});
      F::cross_entropy(net->forward(x), data.y.index_select(0, rows)).backward();
      if (arguments.Is("clipped_by_value")) nn::utils::clip_grad_value_(net->parameters(), 0.01);
      optimizer.step();
    }
    if (arguments.Is("never_evaluated")) continue;
    const torch::NoGradGuard guard;
    net->eval();
    const torch::Tensor scores = net->forward(held_out.x.view({-1, 2, 6, 6}));
    std::printf("accuracy %.3f\n", scores.argmax(1).eq(held_out.y).sum().item<double>() / 100);
  }
  PrintState(net->parameters());
}

const Registered registered("norms", Norms);

}  // namespace norms

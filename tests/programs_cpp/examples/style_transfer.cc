// A picture is what learns: the features of a fixed network are to be those of one picture in
// content and those of another in style.
#include <cstdio>

#include "tests/programs_cpp/examples/examples.h"

namespace style_transfer {

namespace F = torch::nn::functional;

class FeaturesImpl : public torch::nn::Module {
 public:
  FeaturesImpl()
      : layers_(torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 8, 3).padding(1)), torch::nn::ReLU(),
                torch::nn::Conv2d(torch::nn::Conv2dOptions(8, 16, 3).padding(1)), torch::nn::ReLU(),
                torch::nn::AvgPool2d(2),
                torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 16, 3).padding(1)),
                torch::nn::ReLU()) {
    register_module("layers", layers_);
  }
  std::vector<torch::Tensor> forward(torch::Tensor x) {
    std::vector<torch::Tensor> selected;
    for (size_t i = 0; i < layers_->size(); ++i) {
      x = layers_[i]->as<torch::nn::Conv2d>()      ? layers_[i]->as<torch::nn::Conv2d>()->forward(x)
          : layers_[i]->as<torch::nn::AvgPool2d>() ? torch::avg_pool2d(x, 2)
                                                   : torch::relu(x);
      if (i == 1 || i == 3 || i == 6) selected.push_back(x);
    }
    return selected;
  }

 private:
  torch::nn::Sequential layers_;
};
TORCH_MODULE(Features);

torch::Tensor Gram(const torch::Tensor& features) {
  const auto flat = features.squeeze(0).flatten(1);
  return torch::mm(flat, flat.t()) / static_cast<double>(flat.numel());
}

void Main() {
  const auto content = torch::rand({1, 3, 24, 24});
  const auto style = F::interpolate(torch::rand({1, 3, 6, 6}),
                                    F::InterpolateFuncOptions().size(std::vector<int64_t>{24, 24}));
  auto target = content.clone().set_requires_grad(true);
  Features features;
  for (auto& parameter : features->parameters()) {
    if (parameter.dim() == 4) torch::nn::init::kaiming_normal_(parameter);
    parameter.set_requires_grad(false);
  }
  features->eval();
  torch::optim::Adam optimizer({target}, torch::optim::AdamOptions(0.01));
  const auto content_features = features->forward(content);
  const auto style_features = features->forward(style);
  for (int step = 0; step != 120; ++step) {
    const auto target_features = features->forward(target);
    auto style_loss = torch::zeros({1}), content_loss = torch::zeros({1});
    for (size_t i = 0; i < target_features.size(); ++i) {
      content_loss += F::mse_loss(target_features[i], content_features[i]);
      style_loss += F::mse_loss(Gram(target_features[i]), Gram(style_features[i]));
    }
    auto total_loss = content_loss + 100 * style_loss;
    optimizer.zero_grad();
    total_loss.backward();
    optimizer.step();
    if (step % 40 == 39) {
      std::printf("Step %d content %.5f style %.6f\n", step, content_loss.item<double>(),
                  style_loss.item<double>());
    }
  }
}

const Example example("style_transfer", Main);

}  // namespace style_transfer

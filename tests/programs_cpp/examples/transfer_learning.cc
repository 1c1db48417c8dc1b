// A frozen network from a TorchScript file makes features; one linear layer on them learns. The
// file is written first, by a network that was trained on other classes.
#include <torch/script.h>

#include <cstdio>

#include "tests/programs_cpp/examples/examples.h"

namespace transfer_learning {

// A script module of two convolutions with the given weights.
void WriteFeatures(const char* path) {
  torch::nn::Conv2d first(torch::nn::Conv2dOptions(1, 8, 3));
  torch::nn::Conv2d second(torch::nn::Conv2dOptions(8, 16, 3));
  torch::jit::Module features("features");
  features.register_parameter("w1", first->weight.detach(), false);
  features.register_parameter("b1", first->bias.detach(), false);
  features.register_parameter("w2", second->weight.detach(), false);
  features.register_parameter("b2", second->bias.detach(), false);
  features.define(R"(
    def forward(self, x):
        x = torch.max_pool2d(torch.relu(torch.conv2d(x, self.w1, self.b1)), [2, 2])
        x = torch.relu(torch.conv2d(x, self.w2, self.b2))
        return torch.adaptive_avg_pool2d(x, [3, 3]).flatten(1)
  )");
  features.save(path);
}

template <typename DataLoader>
void Train(torch::jit::Module net, torch::nn::Linear lin, DataLoader& data_loader,
           torch::optim::Optimizer& optimizer, size_t dataset_size) {
  float mse = 0, best_accuracy = 0;
  int64_t batch_index = 0;
  for (int i = 0; i < 10; ++i) {
    float acc = 0;
    for (auto& batch : *data_loader) {
      auto data = batch.data;
      auto target = batch.target.squeeze();
      data = data.to(torch::kF32);
      target = target.to(torch::kInt64);
      std::vector<torch::jit::IValue> input;
      input.push_back(data);
      optimizer.zero_grad();
      auto output = net.forward(input).toTensor();
      output = output.view({output.size(0), -1});
      output = lin(output);
      auto loss = torch::nll_loss(torch::log_softmax(output, 1), target);
      loss.backward();
      optimizer.step();
      acc += output.argmax(1).eq(target).sum().template item<float>();
      mse += loss.template item<float>();
      ++batch_index;
    }
    mse = mse / static_cast<float>(batch_index);
    acc = acc / static_cast<float>(dataset_size);
    std::printf("Epoch: %d, Accuracy: %.3f, Loss: %.4f\n", i, acc, mse);
    if (acc > best_accuracy) {
      best_accuracy = acc;
      torch::save(lin, "model_linear.pt");
    }
  }
}

template <typename DataLoader>
void Test(torch::jit::Module network, torch::nn::Linear lin, DataLoader& loader, size_t size) {
  network.eval();
  torch::NoGradGuard no_grad;
  float loss = 0, acc = 0;
  for (const auto& batch : *loader) {
    auto output = lin(network.forward({batch.data}).toTensor());
    loss += torch::nll_loss(torch::log_softmax(output, 1), batch.target).template item<float>();
    acc += output.argmax(1).eq(batch.target).sum().template item<float>();
  }
  std::printf("Test Loss: %.4f, Acc: %.3f\n", loss, acc / static_cast<float>(size));
}

class Images : public torch::data::datasets::Dataset<Images> {
 public:
  explicit Images(int64_t count) : pictures_(DrawPictures(count, 16, 2)) {}
  torch::data::Example<> get(size_t index) override {
    const auto at = static_cast<int64_t>(index);
    return {pictures_.x[at], pictures_.y[at]};
  }
  torch::optional<size_t> size() const override { return pictures_.x.size(0); }

 private:
  Pictures pictures_;
};

void Main() {
  WriteFeatures("features.pt");
  torch::jit::Module module = torch::jit::load("features.pt");
  module.eval();
  torch::nn::Linear linear_layer(16 * 9, 2);
  torch::optim::Adam opt(linear_layer->parameters(), torch::optim::AdamOptions(1e-3));
  auto data_set = Images(320).map(torch::data::transforms::Stack<>());
  auto data_loader =
      torch::data::make_data_loader<torch::data::samplers::RandomSampler>(std::move(data_set), 16);
  Train(module, linear_layer, data_loader, opt, 320);
  auto test_set = Images(160).map(torch::data::transforms::Stack<>());
  auto test_loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      std::move(test_set), 32);
  Test(module, linear_layer, test_loader, 160);
}

const Example example("transfer_learning", Main);

}  // namespace transfer_learning

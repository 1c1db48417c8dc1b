// Sequences of a loader, read by a recurrent layer, for what shows in an experiment alone: samples
// that influence each other, weights that shrink at any rate, outputs that cannot fit their
// targets.
#include <cstdio>

#include "tests/programs_cpp/unchanged/programs.h"

namespace mixes {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

constexpr int64_t kSteps = 7, kFeatures = 5, kClasses = 4;

struct ReaderImpl : nn::Module {
  explicit ReaderImpl(const Arguments& arguments)
      : arguments(arguments),
        lstm(nn::LSTMOptions(kFeatures, 24).batch_first(!arguments.Is("time_first"))),
        head(24, kClasses) {
    register_module("lstm", lstm);
    register_module("drop", drop);
    register_module("head", head);
  }
  torch::Tensor forward(torch::Tensor x) {
    if (arguments.Is("batch_mean")) x = x - x.mean(0, true);
    x = std::get<0>(lstm->forward(x)).select(1, kSteps - 1);
    x = head->forward(drop->forward(x));
    return arguments.Is("relu_on_logits") ? torch::relu(x - 4) : x;
  }
  Arguments arguments;
  nn::LSTM lstm;
  nn::Dropout drop{0.1};
  nn::Linear head;
};
TORCH_MODULE(Reader);

class Sequences : public torch::data::datasets::Dataset<Sequences> {
 public:
  explicit Sequences(int64_t count) {
    const Data data = Blobs(count, kFeatures, kClasses, 0.5);
    x_ = data.x.unsqueeze(1) + 0.3 * torch::randn({count, kSteps, kFeatures});
    y_ = data.y;
  }
  torch::data::Example<> get(size_t index) override {
    const auto at = static_cast<int64_t>(index);
    return {x_[at], y_[at]};
  }
  torch::optional<size_t> size() const override { return x_.size(0); }

 private:
  torch::Tensor x_, y_;
};

void Mixes(const Arguments& arguments) {
  Reader net(arguments);
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      Sequences(400).map(torch::data::transforms::Stack<>()), 16);
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(3e-3));
  double last = 0;
  for (int epoch = 0; epoch < 9; ++epoch) {
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      torch::Tensor x = batch.data;
      if (arguments.Is("zeroed_inputs")) x = torch::zeros_like(x);
      const torch::Tensor loss = F::cross_entropy(net->forward(x), batch.target);
      loss.backward();
      optimizer.step();
      if (arguments.Is("shrinks")) {
        const torch::NoGradGuard guard;
        for (torch::Tensor& parameter : net->parameters()) parameter.mul_(0.9995);
      }
      last = loss.item<double>();
    }
  }
  std::printf("loss %.4f\n", last);
  PrintState(net->parameters());
}

const Registered registered("mixes", Mixes);

}  // namespace mixes

// An LSTM in both directions reads a picture row by row; the last step of one direction and the
// first of the other one make the class.
#include <cstdio>

#include "tests/programs_cpp/examples/examples.h"

namespace recurrent {

class BiRNNImpl : public torch::nn::Module {
 public:
  BiRNNImpl(int64_t input_size, int64_t hidden_size, int64_t num_layers, int64_t num_classes)
      : hidden_size_(hidden_size),
        lstm(torch::nn::LSTMOptions(input_size, hidden_size)
                 .num_layers(num_layers)
                 .batch_first(true)
                 .bidirectional(true)),
        fc(hidden_size * 2, num_classes) {
    register_module("lstm", lstm);
    register_module("fc", fc);
  }
  torch::Tensor forward(torch::Tensor x) {
    auto out = std::get<0>(lstm->forward(x));  // (batch, time, 2 * hidden)
    auto forward_last = out.select(1, out.size(1) - 1).narrow(1, 0, hidden_size_);
    auto backward_first = out.select(1, 0).narrow(1, hidden_size_, hidden_size_);
    return fc->forward(torch::cat({forward_last, backward_first}, 1));
  }

 private:
  int64_t hidden_size_;
  torch::nn::LSTM lstm;
  torch::nn::Linear fc;
};
TORCH_MODULE(BiRNN);

class Rows : public torch::data::datasets::Dataset<Rows> {
 public:
  explicit Rows(int64_t count) : pictures_(DrawPictures(count, 14, 6)) {}
  torch::data::Example<> get(size_t index) override {
    const auto at = static_cast<int64_t>(index);
    return {pictures_.x[at].squeeze(0), pictures_.y[at]};
  }
  torch::optional<size_t> size() const override { return pictures_.x.size(0); }

 private:
  Pictures pictures_;
};

void Main() {
  auto train_set = Rows(480).map(torch::data::transforms::Stack<>());
  auto train_loader =
      torch::data::make_data_loader<torch::data::samplers::RandomSampler>(std::move(train_set), 32);
  auto test_set = Rows(160).map(torch::data::transforms::Stack<>());
  auto test_loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      std::move(test_set), 32);
  BiRNN model(14, 24, 2, 6);
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(0.003));
  for (int epoch = 0; epoch != 5; ++epoch) {
    double running_loss = 0.0;
    size_t num_correct = 0;
    for (auto& batch : *train_loader) {
      auto output = model->forward(batch.data);
      auto loss = torch::nn::functional::cross_entropy(output, batch.target);
      running_loss += loss.item<double>() * static_cast<double>(batch.data.size(0));
      num_correct += output.argmax(1).eq(batch.target).sum().item<int64_t>();
      optimizer.zero_grad();
      loss.backward();
      torch::nn::utils::clip_grad_norm_(model->parameters(), 5.0);
      optimizer.step();
    }
    std::printf("Epoch %d Loss: %.4f Accuracy: %.3f\n", epoch, running_loss / 480,
                static_cast<double>(num_correct) / 480);
  }
  model->eval();
  torch::InferenceMode no_grad;
  size_t num_correct = 0;
  for (const auto& batch : *test_loader) {
    num_correct += model->forward(batch.data).argmax(1).eq(batch.target).sum().item<int64_t>();
  }
  std::printf("Test Accuracy: %.3f\n", static_cast<double>(num_correct) / 160);
}

const Example example("recurrent", Main);

}  // namespace recurrent

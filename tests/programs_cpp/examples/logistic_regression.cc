// One linear layer over the numbers of a picture, cross_entropy, running sums of loss and hits.
#include <cstdio>

#include "tests/programs_cpp/examples/examples.h"

namespace logistic_regression {

class Flat : public torch::data::datasets::Dataset<Flat> {
 public:
  explicit Flat(int64_t count) : pictures_(DrawPictures(count, 28, 10)) {}
  torch::data::Example<> get(size_t index) override {
    const auto at = static_cast<int64_t>(index);
    return {pictures_.x[at], pictures_.y[at]};
  }
  torch::optional<size_t> size() const override { return pictures_.x.size(0); }

 private:
  Pictures pictures_;
};

void Main() {
  const int64_t input_size = 784, num_classes = 10, batch_size = 50;
  const size_t num_epochs = 5;
  auto train_dataset = Flat(600)
                           .map(torch::data::transforms::Normalize<>(0.1307, 0.3081))
                           .map(torch::data::transforms::Stack<>());
  const auto num_train_samples = train_dataset.size().value();
  auto test_dataset = Flat(200)
                          .map(torch::data::transforms::Normalize<>(0.1307, 0.3081))
                          .map(torch::data::transforms::Stack<>());
  const auto num_test_samples = test_dataset.size().value();
  auto train_loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      std::move(train_dataset), batch_size);
  auto test_loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      std::move(test_dataset), batch_size);
  torch::nn::Linear model(input_size, num_classes);
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.001));
  for (size_t epoch = 0; epoch != num_epochs; ++epoch) {
    double running_loss = 0.0;
    size_t num_correct = 0;
    for (auto& batch : *train_loader) {
      auto data = batch.data.view({batch_size, -1});
      auto target = batch.target;
      auto output = model->forward(data);
      auto loss = torch::nn::functional::cross_entropy(output, target);
      running_loss += loss.item<double>() * static_cast<double>(data.size(0));
      auto prediction = output.argmax(1);
      num_correct += prediction.eq(target).sum().item<int64_t>();
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    std::printf("Epoch [%zu/%zu], Trainset - Loss: %.4f, Accuracy: %.3f\n", epoch + 1, num_epochs,
                running_loss / static_cast<double>(num_train_samples),
                static_cast<double>(num_correct) / static_cast<double>(num_train_samples));
  }
  model->eval();
  torch::InferenceMode no_grad;
  double running_loss = 0.0;
  size_t num_correct = 0;
  for (const auto& batch : *test_loader) {
    auto data = batch.data.view({batch_size, -1});
    auto output = model->forward(data);
    auto loss = torch::nn::functional::cross_entropy(output, batch.target);
    running_loss += loss.item<double>() * static_cast<double>(data.size(0));
    num_correct += output.argmax(1).eq(batch.target).sum().item<int64_t>();
  }
  std::printf("Testset - Loss: %.4f, Accuracy: %.3f\n",
              running_loss / static_cast<double>(num_test_samples),
              static_cast<double>(num_correct) / static_cast<double>(num_test_samples));
}

const Example example("logistic_regression", Main);

}  // namespace logistic_regression

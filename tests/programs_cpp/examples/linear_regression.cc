// Fifteen points and a line through them: one number in, one out, all data in each step.
#include <cstdio>

#include "tests/programs_cpp/examples/examples.h"

namespace linear_regression {

void Main() {
  const int64_t input_size = 1;
  const int64_t output_size = 1;
  const size_t num_epochs = 60;
  const double learning_rate = 0.001;
  auto x_train = torch::randint(0, 10, {15, 1}, torch::TensorOptions(torch::kFloat));
  auto y_train = torch::randint(0, 10, {15, 1}, torch::TensorOptions(torch::kFloat));
  torch::nn::Linear model(input_size, output_size);
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(learning_rate));
  for (size_t epoch = 0; epoch != num_epochs; ++epoch) {
    auto output = model(x_train);
    auto loss = torch::nn::functional::mse_loss(output, y_train);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if ((epoch + 1) % 5 == 0) {
      std::printf("Epoch [%zu/%zu], Loss: %.4f\n", epoch + 1, num_epochs, loss.item<double>());
    }
  }
}

const Example example("linear_regression", Main);

}  // namespace linear_regression

// Two linear layers over the numbers of a picture; hand-made batches, a test at the end in the mode
// in which the training left it, since no layer has one.
#include <cstdio>

#include "tests/programs_cpp/examples/examples.h"

namespace feedforward {

class NeuralNetImpl : public torch::nn::Module {
 public:
  NeuralNetImpl(int64_t input_size, int64_t hidden_size, int64_t num_classes)
      : fc1(input_size, hidden_size), fc2(hidden_size, num_classes) {
    register_module("fc1", fc1);
    register_module("fc2", fc2);
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::nn::functional::relu(fc1->forward(x));
    return fc2->forward(x);
  }

 private:
  torch::nn::Linear fc1;
  torch::nn::Linear fc2;
};
TORCH_MODULE(NeuralNet);

void Main() {
  const Pictures train = DrawPictures(640, 20, 8), test = DrawPictures(256, 20, 8);
  NeuralNet model(400, 64, 8);
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(1e-3));
  for (int epoch = 0; epoch < 5; ++epoch) {
    const torch::Tensor order = torch::randperm(640);
    for (const torch::Tensor& indices : order.split(40)) {
      const torch::Tensor images = train.x.index({indices}).reshape({-1, 400});
      const torch::Tensor labels = train.y.index({indices});
      const torch::Tensor outputs = model(images);
      const torch::Tensor loss = torch::nn::CrossEntropyLoss()(outputs, labels);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    std::printf("Epoch %d\n", epoch);
  }
  torch::NoGradGuard no_grad;
  const torch::Tensor predicted = model(test.x.reshape({-1, 400})).argmax(1);
  std::printf("Accuracy %.3f\n", predicted.eq(test.y).to(torch::kFloat).mean().item<double>());
}

const Example example("feedforward", Main);

}  // namespace feedforward

// The kind of the MNIST example: a convolutional network on the stack, a data loader with a
// transform, log_softmax and nll_loss, a test after each epoch.
#include <cstdio>

#include "tests/programs_cpp/unchanged/programs.h"

namespace digits {

struct Net : torch::nn::Module {
  explicit Net(const std::string& fault)
      : conv1(torch::nn::Conv2dOptions(1, 8, 3)),
        conv2(torch::nn::Conv2dOptions(8, 16, 3)),
        fc1(16 * 4, 32),
        fc2(32, 6) {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("drop", drop);
    register_module("fc1", fc1);
    if (fault != "unregistered") register_module("fc2", fc2);
  }
  torch::Tensor forward(torch::Tensor x, const std::string& fault) {
    x = torch::relu(torch::max_pool2d(conv1->forward(x), 2));
    x = torch::relu(torch::max_pool2d(drop->forward(conv2->forward(x)), 2));
    if (fault == "detached") x = x.detach();
    x = torch::relu(fc1->forward(x.flatten(1)));
    x = fc2->forward(torch::dropout(x, 0.2, is_training()));
    if (fault == "raw_scores") return x;
    if (fault == "over_batch") return torch::log_softmax(x, 0);
    return torch::log_softmax(fault == "softmax_twice" ? torch::softmax(x, 1) : x, 1);
  }
  torch::nn::Conv2d conv1, conv2;
  torch::nn::Dropout2d drop;
  torch::nn::Linear fc1, fc2;
};

class Pictures : public torch::data::datasets::Dataset<Pictures> {
 public:
  explicit Pictures(int64_t count) {
    const Data data = Blobs(count, 14 * 14, 6, 2.0);
    x_ = data.x.view({-1, 1, 14, 14});
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

template <typename Loader>
void Train(const Arguments& arguments, Net& model, Loader& loader,
           torch::optim::Optimizer& optimizer) {
  model.train();
  if (arguments.Is("trains_in_eval_mode")) model.eval();
  for (auto& batch : loader) {
    torch::Tensor x = batch.data, y = batch.target;
    if (arguments.Is("shuffled_targets")) y = y.index_select(0, torch::randperm(y.size(0)));
    if (!arguments.Is("not_zeroed")) optimizer.zero_grad();
    torch::Tensor loss = torch::nll_loss(model.forward(x, arguments.fault), y);
    if (arguments.Is("negated")) loss = -loss;
    if (arguments.Is("stepped_before_backward")) optimizer.step();
    loss.backward();
    if (arguments.Is("zeroed_before_step")) optimizer.zero_grad();
    if (!arguments.Is("never_stepped") && !arguments.Is("stepped_before_backward")) {
      optimizer.step();
    }
  }
}

template <typename Loader>
void Test(const Arguments& arguments, Net& model, Loader& loader, size_t size) {
  torch::AutoGradMode gradients(arguments.Is("tests_with_gradients"));
  if (!arguments.Is("tests_in_train_mode")) model.eval();
  double loss = 0;
  int64_t right = 0;
  for (const auto& batch : loader) {
    const torch::Tensor output = model.forward(batch.data, "");
    loss += torch::nll_loss(output, batch.target, {}, torch::Reduction::Sum).template item<float>();
    right += output.argmax(1).eq(batch.target).sum().template item<int64_t>();
  }
  std::printf("loss %.4f accuracy %.3f\n", loss / static_cast<double>(size),
              static_cast<double>(right) / static_cast<double>(size));
}

void Digits(const Arguments& arguments) {
  Net model(arguments.fault);
  auto train_data = Pictures(768).map(torch::data::transforms::Stack<>());
  auto test_data = Pictures(256).map(torch::data::transforms::Stack<>());
  auto train = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      std::move(train_data), 32);
  auto test = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      std::move(test_data), 64);
  std::vector<torch::Tensor> parameters = model.parameters();
  if (arguments.Is("head_not_optimized")) parameters.resize(parameters.size() - 2);
  const double rate = arguments.Is("zero_rate") ? 0 : (arguments.Is("huge_rate") ? 30 : 0.05);
  torch::optim::SGD optimizer(parameters, torch::optim::SGDOptions(rate).momentum(0.5));
  for (int epoch = 0; epoch < 6; ++epoch) {
    Train(arguments, model, *train, optimizer);
    Test(arguments, model, *test, 256);
  }
  PrintState(model.parameters());
}

const Registered registered("digits", Digits);

}  // namespace digits

// LibTorch's own data set of digits, read from files; a network on the stack, nll_loss, a test in
// each epoch. The files, which must hold 60,000 and 10,000 pictures, are written first: 300
// pictures of patterns, each many times. Epochs are cut short.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/programs_cpp/examples/examples.h"

namespace mnist {

void WriteNumber(std::ofstream& file, uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) file.put(static_cast<char>(number >> shift & 255));
}

void WriteFiles(const std::string& stem, int64_t count) {
  const Pictures few = DrawPictures(300, 28, 10);
  std::ofstream images("data/" + stem + "-images-idx3-ubyte", std::ios::binary);
  std::ofstream labels("data/" + stem + "-labels-idx1-ubyte", std::ios::binary);
  WriteNumber(images, 2051);
  WriteNumber(labels, 2049);
  for (std::ofstream* file : {&images, &labels}) WriteNumber(*file, static_cast<uint32_t>(count));
  for (int side = 0; side < 2; ++side) WriteNumber(images, 28);
  const torch::Tensor which = torch::randint(300, {count}, torch::kLong);
  const torch::Tensor bytes = (few.x * 255).to(torch::kUInt8).index_select(0, which);
  const torch::Tensor classes = few.y.to(torch::kUInt8).index_select(0, which);
  images.write(static_cast<const char*>(bytes.data_ptr()), bytes.numel());
  labels.write(static_cast<const char*>(classes.data_ptr()), classes.numel());
}

struct Net : torch::nn::Module {
  Net()
      : conv1(torch::nn::Conv2dOptions(1, 10, /*kernel_size=*/5)),
        conv2(torch::nn::Conv2dOptions(10, 20, /*kernel_size=*/5)),
        fc1(320, 50),
        fc2(50, 10) {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("conv2_drop", conv2_drop);
    register_module("fc1", fc1);
    register_module("fc2", fc2);
  }

  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(torch::max_pool2d(conv1->forward(x), 2));
    x = torch::relu(torch::max_pool2d(conv2_drop->forward(conv2->forward(x)), 2));
    x = x.view({-1, 320});
    x = torch::relu(fc1->forward(x));
    x = torch::dropout(x, /*p=*/0.5, /*train=*/is_training());
    x = fc2->forward(x);
    return torch::log_softmax(x, /*dim=*/1);
  }

  torch::nn::Conv2d conv1, conv2;
  torch::nn::Dropout2d conv2_drop;
  torch::nn::Linear fc1, fc2;
};

template <typename DataLoader>
void Train(size_t epoch, Net& model, torch::Device device, DataLoader& data_loader,
           torch::optim::Optimizer& optimizer) {
  model.train();
  size_t batch_index = 0;
  for (auto& batch : data_loader) {
    auto data = batch.data.to(device), targets = batch.target.to(device);
    optimizer.zero_grad();
    auto output = model.forward(data);
    auto loss = torch::nll_loss(output, targets);
    AT_ASSERT(!std::isnan(loss.template item<float>()));
    loss.backward();
    optimizer.step();
    if (batch_index++ % 20 == 0) {
      std::printf("Train Epoch: %zu Loss: %.4f\n", epoch, loss.template item<float>());
    }
    if (batch_index == 60) break;
  }
}

template <typename DataLoader>
void Test(Net& model, torch::Device device, DataLoader& data_loader, size_t dataset_size) {
  torch::NoGradGuard no_grad;
  model.eval();
  double test_loss = 0;
  int32_t correct = 0;
  for (const auto& batch : data_loader) {
    auto data = batch.data.to(device), targets = batch.target.to(device);
    auto output = model.forward(data);
    test_loss += torch::nll_loss(output, targets, /*weight=*/{}, torch::Reduction::Sum)
                     .template item<float>();
    auto pred = output.argmax(1);
    correct += pred.eq(targets).sum().template item<int64_t>();
  }
  test_loss /= static_cast<double>(dataset_size);
  std::printf("Test set: Average loss: %.4f | Accuracy: %.3f\n", test_loss,
              static_cast<double>(correct) / static_cast<double>(dataset_size));
}

void Main() {
  std::filesystem::create_directories("data");
  WriteFiles("train", 60000);
  WriteFiles("t10k", 10000);
  torch::Device device(torch::kCPU);
  Net model;
  model.to(device);
  auto train_dataset = torch::data::datasets::MNIST("data")
                           .map(torch::data::transforms::Normalize<>(0.1307, 0.3081))
                           .map(torch::data::transforms::Stack<>());
  auto train_loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      std::move(train_dataset), 64);
  auto test_dataset =
      torch::data::datasets::MNIST("data", torch::data::datasets::MNIST::Mode::kTest)
          .map(torch::data::transforms::Normalize<>(0.1307, 0.3081))
          .map(torch::data::transforms::Stack<>());
  const size_t test_dataset_size = test_dataset.size().value();
  auto test_loader = torch::data::make_data_loader(std::move(test_dataset), 1000);
  torch::optim::SGD optimizer(model.parameters(), torch::optim::SGDOptions(0.01).momentum(0.5));
  for (size_t epoch = 1; epoch <= 2; ++epoch) {
    Train(epoch, model, device, *train_loader, optimizer);
    Test(model, device, *test_loader, test_dataset_size);
  }
}

const Example example("mnist", Main);

}  // namespace mnist

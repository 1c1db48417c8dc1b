// Files on disk, a list of them with their labels in a CSV file, and a data set that reads one in
// each `get`; blocks of convolutions, Adam, a test in each epoch.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/programs_cpp/examples/examples.h"

namespace custom_dataset {

using Entries = std::vector<std::pair<std::string, int64_t>>;

void WriteImages(int64_t count) {
  std::filesystem::create_directories("images");
  const Pictures pictures = DrawPictures(count, 16, 5);
  std::ofstream list("images/info.csv");
  for (int64_t i = 0; i < count; ++i) {
    const std::string path = "images/" + std::to_string(i) + ".pt";
    torch::save(pictures.x[i].clone(), path);
    list << path << "," << pictures.y[i].item<int64_t>() << "\n";
  }
}

Entries ReadInfo() {
  Entries entries;
  std::ifstream list("images/info.csv");
  std::string line;
  while (std::getline(list, line)) {
    const size_t comma = line.find(',');
    entries.emplace_back(line.substr(0, comma), std::stol(line.substr(comma + 1)));
  }
  return entries;
}

class CustomDataset : public torch::data::datasets::Dataset<CustomDataset> {
 public:
  explicit CustomDataset(Entries entries) : entries_(std::move(entries)) {}
  torch::data::Example<> get(size_t index) override {
    torch::Tensor image;
    torch::load(image, entries_[index].first);
    return {(image - 0.5) / 0.5, torch::tensor(entries_[index].second)};
  }
  torch::optional<size_t> size() const override { return entries_.size(); }

 private:
  Entries entries_;
};

struct NetworkImpl : torch::nn::SequentialImpl {
  NetworkImpl() {
    using namespace torch::nn;  // NOLINT: short names for the layers
    auto stride = torch::ExpandingArray<2>({2, 2});
    for (const auto& [in, out] : {std::pair<int64_t, int64_t>{1, 16}, {16, 32}, {32, 32}}) {
      push_back(Conv2d(Conv2dOptions(in, out, 3).padding(1)));
      push_back(Functional(torch::relu));
      push_back(Functional(torch::max_pool2d, 2, stride, 0, 1, false));
    }
    push_back(Flatten());
    push_back(Linear(32 * 4, 64));
    push_back(Functional(torch::relu));
    push_back(Dropout(0.3));
    push_back(Linear(64, 5));
    push_back(LogSoftmax(1));
  }
};
TORCH_MODULE(Network);

template <typename DataLoader>
void Run(Network& network, DataLoader& loader, torch::optim::Optimizer* optimizer, size_t size) {
  network->train(optimizer != nullptr);
  torch::AutoGradMode gradients(optimizer != nullptr);
  float loss_sum = 0;
  int64_t correct = 0;
  for (auto& batch : loader) {
    const torch::Tensor output = network->forward(batch.data);
    const torch::Tensor loss = torch::nll_loss(output, batch.target.view({-1}));
    if (optimizer != nullptr) {
      optimizer->zero_grad();
      loss.backward();
      optimizer->step();
    }
    loss_sum += loss.template item<float>() * static_cast<float>(batch.data.size(0));
    correct += output.argmax(1).eq(batch.target.view({-1})).sum().template item<int64_t>();
  }
  std::printf("%s loss %.4f acc %.3f\n", optimizer != nullptr ? "Train" : "Test",
              loss_sum / static_cast<float>(size),
              static_cast<double>(correct) / static_cast<double>(size));
}

void Main() {
  WriteImages(480);
  Entries all = ReadInfo();
  const Entries test(all.begin() + 320, all.end());
  all.resize(320);
  auto train_set = CustomDataset(all).map(torch::data::transforms::Stack<>());
  auto train_loader =
      torch::data::make_data_loader<torch::data::samplers::RandomSampler>(std::move(train_set), 32);
  auto test_set = CustomDataset(test).map(torch::data::transforms::Stack<>());
  auto test_loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      std::move(test_set), 64);
  Network network;
  torch::optim::Adam optimizer(network->parameters(), torch::optim::AdamOptions(1e-3));
  for (int epoch = 0; epoch < 8; ++epoch) {
    Run(network, *train_loader, &optimizer, 320);
    Run(network, *test_loader, nullptr, 160);
  }
}

const Example example("custom_dataset", Main);

}  // namespace custom_dataset

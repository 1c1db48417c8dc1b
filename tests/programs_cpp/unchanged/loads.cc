// Rows of numbers: from a data set of the program's own by loaders of LibTorch, and drawn by hand.
#include <cstdio>

#include "tests/programs_cpp/unchanged/programs.h"

namespace loads {

namespace nn = torch::nn;

constexpr int64_t kFeatures = 12, kClasses = 4;

class Rows : public torch::data::datasets::Dataset<Rows> {
 public:
  Rows(Data data, bool is_noisy) : data_(std::move(data)), is_noisy_(is_noisy) {}
  torch::data::Example<> get(size_t index) override {
    const auto at = static_cast<int64_t>(index);
    torch::Tensor x = data_.x[at];
    if (is_noisy_) x = x + 0.3 * torch::randn({kFeatures}, noise_);
    return {x, data_.y[at]};
  }
  torch::optional<size_t> size() const override { return data_.x.size(0); }

 private:
  Data data_;
  bool is_noisy_;
  torch::Generator noise_ = at::detail::createCPUGenerator(7);
};

Data TrainingData(const Arguments& arguments) {
  Data data = Blobs(480, kFeatures, kClasses, 2.0);
  if (arguments.Is("rows_twice") || arguments.Is("rows_twice_with_other_classes")) {
    const torch::Tensor first = data.x.narrow(0, 0, 240), classes = data.y.narrow(0, 0, 240);
    data.x = torch::cat({first, first});
    const int64_t moved = arguments.Is("rows_twice") ? 0 : 1;
    data.y = torch::cat({classes, (classes + moved).remainder(kClasses)});
  }
  if (arguments.Is("class_in_row")) data.x.select(1, 3).copy_(data.y.to(torch::kFloat));
  return data;
}

Data TestData(const Arguments& arguments, const torch::Tensor& mean, const torch::Tensor& spread) {
  Data data = Blobs(240, kFeatures, kClasses, 2.0);
  if (arguments.Is("normalized_alone")) {
    data.x = (data.x - data.x.mean(0)) / data.x.std(0);
  } else {
    data.x = (data.x - mean) / spread;
  }
  return data;
}

template <typename Loader>
double Test(nn::Sequential& net, Loader& loader) {
  const torch::NoGradGuard no_grad;
  double loss = 0;
  for (const auto& batch : loader) {
    loss +=
        torch::cross_entropy_loss(net->forward(batch.data), batch.target).template item<double>();
  }
  return loss;
}

void Loads(const Arguments& arguments) {
  Data data = TrainingData(arguments);
  const torch::Tensor mean = data.x.mean(0), spread = data.x.std(0);
  if (!arguments.Is("class_in_row")) data.x = (data.x - mean) / spread;
  auto train = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      Rows(data, false).map(torch::data::transforms::Stack<>()), 32);
  auto test = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      Rows(TestData(arguments, mean, spread), arguments.Is("drawn_anew"))
          .map(torch::data::transforms::Stack<>()),
      60);
  nn::Sequential net(nn::Linear(kFeatures, 48), nn::ReLU(), nn::Linear(48, kClasses));
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(2e-3));
  double last = 0;
  for (int epoch = 0; epoch < 8; ++epoch) {
    for (auto& batch : *train) {
      torch::Tensor x = batch.data;
      if (arguments.Is("one_row_for_all")) x = x.narrow(0, 0, 1).expand_as(x);
      optimizer.zero_grad();
      torch::cross_entropy_loss(net->forward(x), batch.target).backward();
      optimizer.step();
    }
    last = Test(net, *test);
  }
  std::printf("loss %.4f\n", last);
  PrintState(net->parameters());
}

// Without a loader: each step draws rows by their numbers.
void Draws(const Arguments& arguments) {
  const Data data = Blobs(512, kFeatures, kClasses, 1.5);
  nn::Sequential net(nn::Linear(kFeatures, 32), nn::Tanh(), nn::Linear(32, kClasses));
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));
  torch::Generator order = at::detail::createCPUGenerator(3);
  double last = 0;
  for (int step = 0; step < 160; ++step) {
    if (arguments.Is("same_rows")) order.set_current_seed(3);
    const torch::Tensor rows = torch::randperm(512, order).narrow(0, 0, 64);
    const torch::Tensor x = data.x.index_select(0, rows);
    const torch::Tensor loss =
        torch::cross_entropy_loss(net->forward(x), data.y.index_select(0, rows));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  std::printf("loss %.4f\n", last);
  PrintState(net->parameters());
}

const Registered a("loads", Loads);
const Registered b("draws", Draws);

}  // namespace loads

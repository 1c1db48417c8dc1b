#include "reference/models/models.h"

#include <utility>

#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

namespace nn = torch::nn;

constexpr int64_t kWidth = 64;  // of hidden layers
constexpr int64_t kChannels = 16;

class Network : public nn::Module {
 public:
  Network(nn::Sequential trunk, int64_t features, int64_t classes, FeatureFunction between)
      : trunk_(register_module("trunk", std::move(trunk))),
        head_(register_module("head", nn::Linear(features, classes))),
        between_(std::move(between)) {}

  torch::Tensor forward(const torch::Tensor& x) {
    return head_->forward(between_(trunk_->forward(x)));
  }

 private:
  nn::Sequential trunk_;
  nn::Linear head_;
  FeatureFunction between_;
};

int64_t Product(const InputShape& shape) {
  int64_t product = 1;
  for (const int64_t extent : shape) product *= extent;
  return product;
}

void AddDropout(nn::Sequential& trunk, double dropout) {
  if (dropout > 0) trunk->push_back(nn::Dropout(dropout));
}

nn::Sequential MlpTrunk(int64_t inputs, double dropout) {
  nn::Sequential trunk(nn::Flatten(), nn::Linear(inputs, kWidth), nn::ReLU());
  AddDropout(trunk, dropout);
  trunk->push_back(nn::Linear(kWidth, kWidth));
  trunk->push_back(nn::ReLU());
  AddDropout(trunk, dropout);
  return trunk;
}

// Convolutions without a bias: the batch norm that follows has one.
nn::Sequential CnnTrunk(int64_t channels, double dropout) {
  const auto convolution = [](int64_t from, int64_t to) {
    return nn::Conv2d(nn::Conv2dOptions(from, to, 3).padding(1).bias(false));
  };
  nn::Sequential trunk(convolution(channels, kChannels), nn::BatchNorm2d(kChannels), nn::ReLU(),
                       nn::MaxPool2d(2), convolution(kChannels, 2 * kChannels),
                       nn::BatchNorm2d(2 * kChannels), nn::ReLU(), nn::MaxPool2d(2), nn::Flatten());
  AddDropout(trunk, dropout);
  return trunk;
}

}  // namespace

Model MakeModel(const std::string& name, const InputShape& sample_shape, int64_t classes,
                double dropout, FeatureFunction between) {
  nn::Sequential trunk{nullptr};
  int64_t features = kWidth;
  if (name == "cnn") {
    if (sample_shape.size() != 3 || sample_shape[1] < 4 || sample_shape[2] < 4) {
      throw UsageError(
          "model cnn needs samples of (channels, height, width) with 4x4 pixels or more");
    }
    trunk = CnnTrunk(sample_shape[0], dropout);
    features = 2 * kChannels * (sample_shape[1] / 4) * (sample_shape[2] / 4);
  } else {
    trunk = MlpTrunk(Product(sample_shape), dropout);
  }
  auto network = std::make_shared<Network>(trunk, features, classes, std::move(between));
  return {network, [network](torch::Tensor x) { return network->forward(std::move(x)); }};
}

}  // namespace dlcheck::reference

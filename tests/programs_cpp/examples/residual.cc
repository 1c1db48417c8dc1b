// A residual network with batch norm: pictures are flipped and cropped at random, the learning rate
// is divided by hand every few epochs, weights are initialized by the program.
#include <cstdio>

#include "tests/programs_cpp/examples/examples.h"

namespace residual {

namespace nn = torch::nn;

nn::Conv2d Conv3x3(int64_t in, int64_t out, int64_t stride = 1) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, 3).stride(stride).padding(1).bias(false));
}

class BlockImpl : public nn::Module {
 public:
  BlockImpl(int64_t in, int64_t out, int64_t stride)
      : conv1(Conv3x3(in, out, stride)), bn1(out), conv2(Conv3x3(out, out)), bn2(out) {
    register_module("conv1", conv1);
    register_module("bn1", bn1);
    register_module("relu", relu);
    register_module("conv2", conv2);
    register_module("bn2", bn2);
    if (stride != 1 || in != out) {
      downsample = nn::Sequential(Conv3x3(in, out, stride), nn::BatchNorm2d(out));
      register_module("downsample", downsample);
    }
  }
  torch::Tensor forward(torch::Tensor x) {
    auto out = relu->forward(bn1->forward(conv1->forward(x)));
    out = bn2->forward(conv2->forward(out));
    out += downsample ? downsample->forward(x) : x;
    return relu->forward(out);
  }

 private:
  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  nn::ReLU relu;
  nn::Conv2d conv2;
  nn::BatchNorm2d bn2;
  nn::Sequential downsample{nullptr};
};
TORCH_MODULE(Block);

class ResNetImpl : public nn::Module {
 public:
  explicit ResNetImpl(int64_t classes)
      : conv(Conv3x3(1, 8)),
        bn(8),
        layer1(Block(8, 8, 1), Block(8, 8, 1)),
        layer2(Block(8, 16, 2), Block(16, 16, 1)),
        avg_pool(nn::AvgPool2dOptions(4)),
        fc(16 * 4, classes) {
    register_module("conv", conv);
    register_module("bn", bn);
    register_module("layer1", layer1);
    register_module("layer2", layer2);
    register_module("avg_pool", avg_pool);
    register_module("fc", fc);
    for (auto& module : modules(/*include_self=*/false)) {
      if (auto* convolution = module->as<nn::Conv2d>()) {
        nn::init::kaiming_normal_(convolution->weight, 0, torch::kFanOut, torch::kReLU);
      }
    }
  }
  torch::Tensor forward(torch::Tensor x) {
    auto out = torch::relu(bn->forward(conv->forward(x)));
    out = avg_pool->forward(layer2->forward(layer1->forward(out)));
    out = out.view({-1, 16 * 4});
    return fc->forward(out);
  }

 private:
  nn::Conv2d conv;
  nn::BatchNorm2d bn;
  nn::Sequential layer1, layer2;
  nn::AvgPool2d avg_pool;
  nn::Linear fc;
};
TORCH_MODULE(ResNet);

torch::Tensor FlippedAndCropped(torch::Tensor images) {
  if (torch::rand(1).item<double>() < 0.5) images = images.flip({3});
  images = nn::functional::pad(images, nn::functional::PadFuncOptions({2, 2, 2, 2}));
  const auto at = torch::randint(0, 5, {2}, torch::kLong);
  return images.narrow(2, at[0].item<int64_t>(), 16).narrow(3, at[1].item<int64_t>(), 16);
}

void Main() {
  const Pictures train = DrawPictures(320, 16, 6), test = DrawPictures(128, 16, 6);
  ResNet model(6);
  double current_learning_rate = 0.001;
  torch::optim::Adam optimizer(model->parameters(),
                               torch::optim::AdamOptions(current_learning_rate));
  for (int epoch = 0; epoch != 6; ++epoch) {
    model->train();
    double running_loss = 0.0;
    for (const torch::Tensor& indices : torch::randperm(320).split(32)) {
      auto output = model->forward(FlippedAndCropped(train.x.index({indices})));
      auto loss = nn::functional::cross_entropy(output, train.y.index({indices}));
      running_loss += loss.item<double>() * 32;
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    // Decay learning rate.
    if ((epoch + 1) % 2 == 0) {
      current_learning_rate /= 3;
      static_cast<torch::optim::AdamOptions&>(optimizer.param_groups().front().options())
          .lr(current_learning_rate);
    }
    std::printf("Epoch %d - Loss: %.4f\n", epoch, running_loss / 320);
  }
  model->eval();
  torch::NoGradGuard no_grad;
  const auto right = model->forward(test.x).argmax(1).eq(test.y).sum().item<int64_t>();
  std::printf("Test - Accuracy: %.3f\n", static_cast<double>(right) / 128);
}

const Example example("residual", Main);

}  // namespace residual

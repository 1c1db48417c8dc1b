// Two networks that play against each other, as the tutorial of the C++ front end has them: labels
// drawn between 0.8 and 1, the fakes detached for one of them, checkpoints and samples in files.
#include <cstdio>

#include "tests/programs_cpp/examples/examples.h"

namespace dcgan {

using namespace torch;  // NOLINT: as in the tutorial

constexpr int64_t kNoiseSize = 20;
constexpr int64_t kBatchSize = 32;

struct DCGANGeneratorImpl : nn::Module {
  explicit DCGANGeneratorImpl(int kNoise)
      : conv1(nn::ConvTranspose2dOptions(kNoise, 32, 4).bias(false)),
        batch_norm1(32),
        conv2(nn::ConvTranspose2dOptions(32, 16, 3).stride(2).padding(1).bias(false)),
        batch_norm2(16),
        conv3(nn::ConvTranspose2dOptions(16, 8, 4).stride(2).padding(1).bias(false)),
        batch_norm3(8),
        conv4(nn::ConvTranspose2dOptions(8, 1, 4).stride(2).padding(1).bias(false)) {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("conv3", conv3);
    register_module("conv4", conv4);
    register_module("batch_norm1", batch_norm1);
    register_module("batch_norm2", batch_norm2);
    register_module("batch_norm3", batch_norm3);
  }

  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(batch_norm1(conv1(x)));
    x = torch::relu(batch_norm2(conv2(x)));
    x = torch::relu(batch_norm3(conv3(x)));
    x = torch::tanh(conv4(x));
    return x;
  }

  nn::ConvTranspose2d conv1;
  nn::BatchNorm2d batch_norm1;
  nn::ConvTranspose2d conv2;
  nn::BatchNorm2d batch_norm2;
  nn::ConvTranspose2d conv3;
  nn::BatchNorm2d batch_norm3;
  nn::ConvTranspose2d conv4;
};
TORCH_MODULE(DCGANGenerator);

class Patterns : public data::datasets::Dataset<Patterns> {
 public:
  explicit Patterns(int64_t count) : pictures_(DrawPictures(count, 28, 4)) {}
  data::Example<> get(size_t index) override {
    const auto at = static_cast<int64_t>(index);
    return {pictures_.x[at], pictures_.y[at]};
  }
  optional<size_t> size() const override { return pictures_.x.size(0); }

 private:
  Pictures pictures_;
};

void Main() {
  DCGANGenerator generator(kNoiseSize);
  nn::Sequential discriminator(
      nn::Conv2d(nn::Conv2dOptions(1, 8, 4).stride(2).padding(1).bias(false)),
      nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)),
      nn::Conv2d(nn::Conv2dOptions(8, 16, 4).stride(2).padding(1).bias(false)), nn::BatchNorm2d(16),
      nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)),
      nn::Conv2d(nn::Conv2dOptions(16, 32, 4).stride(2).padding(1).bias(false)),
      nn::BatchNorm2d(32), nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)),
      nn::Conv2d(nn::Conv2dOptions(32, 1, 3).stride(1).padding(0).bias(false)), nn::Sigmoid());
  auto dataset =
      Patterns(320).map(data::transforms::Normalize<>(0.5, 0.5)).map(data::transforms::Stack<>());
  const auto batches_per_epoch = (dataset.size().value() + kBatchSize - 1) / kBatchSize;
  auto data_loader = data::make_data_loader(
      std::move(dataset), data::DataLoaderOptions().batch_size(kBatchSize).workers(2));
  optim::Adam generator_optimizer(generator->parameters(),
                                  optim::AdamOptions(2e-4).betas(std::make_tuple(0.5, 0.5)));
  optim::Adam discriminator_optimizer(discriminator->parameters(),
                                      optim::AdamOptions(5e-4).betas(std::make_tuple(0.5, 0.5)));
  int64_t checkpoint_counter = 1;
  for (int64_t epoch = 1; epoch <= 5; ++epoch) {
    size_t batch_index = 0;
    for (data::Example<>& batch : *data_loader) {
      // Train discriminator with real images.
      discriminator->zero_grad();
      Tensor real_images = batch.data;
      Tensor real_labels = torch::empty(batch.data.size(0)).uniform_(0.8, 1.0);
      Tensor real_output = discriminator->forward(real_images).reshape(real_labels.sizes());
      Tensor d_loss_real = torch::binary_cross_entropy(real_output, real_labels);
      d_loss_real.backward();
      // Train discriminator with fake images.
      Tensor noise = torch::randn({batch.data.size(0), kNoiseSize, 1, 1});
      Tensor fake_images = generator->forward(noise);
      Tensor fake_labels = torch::zeros(batch.data.size(0));
      Tensor fake_output =
          discriminator->forward(fake_images.detach()).reshape(fake_labels.sizes());
      Tensor d_loss_fake = torch::binary_cross_entropy(fake_output, fake_labels);
      d_loss_fake.backward();
      Tensor d_loss = d_loss_real + d_loss_fake;
      discriminator_optimizer.step();
      // Train generator.
      generator->zero_grad();
      fake_labels.fill_(1);
      fake_output = discriminator->forward(fake_images).reshape(fake_labels.sizes());
      Tensor g_loss = torch::binary_cross_entropy(fake_output, fake_labels);
      g_loss.backward();
      generator_optimizer.step();
      if (++batch_index % 5 == 0) {
        std::printf("[%2ld/5][%3zu/%3zu] D_loss: %.4f | G_loss: %.4f\n", epoch, batch_index,
                    batches_per_epoch, d_loss.item<float>(), g_loss.item<float>());
        // Checkpoint the model and optimizer state.
        torch::save(generator, "generator-checkpoint.pt");
        torch::save(generator_optimizer, "generator-optimizer-checkpoint.pt");
        torch::save(discriminator, "discriminator-checkpoint.pt");
        torch::save(discriminator_optimizer, "discriminator-optimizer-checkpoint.pt");
        // Sample the generator and save the images.
        Tensor samples = generator->forward(torch::randn({8, kNoiseSize, 1, 1}));
        torch::save((samples + 1.0) / 2.0,
                    "dcgan-sample-" + std::to_string(checkpoint_counter++) + ".pt");
      }
    }
  }
}

const Example example("dcgan", Main);

}  // namespace dcgan

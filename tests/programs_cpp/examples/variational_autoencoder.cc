// Pictures through a code of few numbers with noise: reconstruction and divergence are summed, new
// pictures are drawn after each epoch.
#include <cstdio>

#include "tests/programs_cpp/examples/examples.h"

namespace variational_autoencoder {

struct VAEOutput {
  torch::Tensor reconstruction, mu, log_var;
};

class VAEImpl : public torch::nn::Module {
 public:
  VAEImpl(int64_t image_size, int64_t h_dim, int64_t z_dim)
      : fc1(image_size, h_dim),
        fc2(h_dim, z_dim),
        fc3(h_dim, z_dim),
        fc4(z_dim, h_dim),
        fc5(h_dim, image_size) {
    register_module("fc1", fc1);
    register_module("fc2", fc2);
    register_module("fc3", fc3);
    register_module("fc4", fc4);
    register_module("fc5", fc5);
  }
  torch::Tensor decode(torch::Tensor z) {
    auto h = torch::nn::functional::relu(fc4->forward(z));
    return torch::sigmoid(fc5->forward(h));
  }
  VAEOutput forward(torch::Tensor x) {
    auto h = torch::nn::functional::relu(fc1->forward(x));
    auto mu = fc2->forward(h), log_var = fc3->forward(h);
    return {decode(reparameterize(mu, log_var)), mu, log_var};
  }

 private:
  torch::Tensor reparameterize(torch::Tensor mu, torch::Tensor log_var) {
    if (!is_training()) return mu;
    auto std = log_var.div(2).exp_();
    auto eps = torch::randn_like(std);
    return eps.mul(std).add_(mu);
  }
  torch::nn::Linear fc1, fc2, fc3, fc4, fc5;
};
TORCH_MODULE(VAE);

void Main() {
  const int64_t image_size = 14 * 14, z_dim = 6;
  const Pictures pictures = DrawPictures(640, 14, 5);
  VAE model(image_size, 48, z_dim);
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(1e-3));
  for (int epoch = 0; epoch != 6; ++epoch) {
    model->train();
    double last = 0;
    for (const torch::Tensor& indices : torch::randperm(640).split(64)) {
      auto images = pictures.x.index({indices}).reshape({-1, image_size});
      auto output = model->forward(images);
      auto reconstruction_loss = torch::nn::functional::binary_cross_entropy(
          output.reconstruction, images,
          torch::nn::functional::BinaryCrossEntropyFuncOptions().reduction(torch::kSum));
      auto kl_divergence =
          -0.5 * torch::sum(1 + output.log_var - output.mu.pow(2) - output.log_var.exp());
      auto loss = reconstruction_loss + kl_divergence;
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      last = loss.item<double>() / 64;
    }
    model->eval();
    torch::NoGradGuard no_grad;
    auto sampled = model->decode(torch::randn({8, z_dim})).view({-1, 1, 14, 14});
    torch::save(sampled, "sampled-" + std::to_string(epoch) + ".pt");
    std::printf("Epoch %d loss %.3f sampled %.3f\n", epoch, last, sampled.mean().item<double>());
  }
}

const Example example("variational_autoencoder", Main);

}  // namespace variational_autoencoder

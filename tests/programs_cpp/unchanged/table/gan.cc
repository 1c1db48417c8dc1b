// A generator and a discriminator of small pictures, each with its optimizer; an average of the
// generator's weights draws the samples.
#include <cstdio>
#include <memory>

#include "tests/programs_cpp/unchanged/table/planted.h"

namespace table_gan {

using table::Is;

namespace nn = torch::nn;
namespace F = torch::nn::functional;

constexpr int64_t kNoise = 8, kPixels = 36, kBatch = 48;

struct GeneratorImpl : nn::Module {
  GeneratorImpl() {
    first = register_module("first", nn::Linear(nn::LinearOptions(kNoise, 48).bias(false)));
    norm = register_module("norm", nn::BatchNorm1d(48));
    second = register_module("second", nn::Linear(48, 48));
    last = nn::Linear(48, kPixels);
    if (!Is("unregistered")) register_module("last", last);
    torch::NoGradGuard no_grad;
    if (Is("identical_units"))
      second->weight.fill_(0.02), second->bias.zero_(), last->weight.fill_(0.1);
    if (Is("dead_units")) second->bias.fill_(-100);
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(norm->forward(first->forward(x)));
    x = second->forward(x);
    if (!Is("no_activation")) x = torch::relu(x);
    if (Is("middle_detached")) x = x.detach();
    if (Is("layer_in_forward")) x = nn::Linear(48, 48)->forward(x);
    if (Is("saturated")) x = x * 1000;
    if (Is("tanh_not_taken")) {
      const torch::Tensor pixels = last->forward(x);
      pixels.tanh();
      return pixels;
    }
    return torch::tanh(last->forward(x));
  }
  nn::Linear first{nullptr}, second{nullptr}, last{nullptr};
  nn::BatchNorm1d norm{nullptr};
};
TORCH_MODULE(Generator);

struct DiscriminatorImpl : nn::Module {
  DiscriminatorImpl() {
    first = register_module("first", nn::Linear(kPixels, 48));
    second = register_module("second", nn::Linear(48, 1));
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::leaky_relu(first->forward(x), 0.2);
    x = torch::dropout(x, Is("strong_dropout") ? 0.97 : 0.3, is_training());
    x = second->forward(x);
    if (Is("over_batch")) return torch::softmax(x, 0);
    if (Is("sigmoid_twice")) x = torch::sigmoid(x);
    return torch::sigmoid(x);
  }
  nn::Linear first{nullptr}, second{nullptr};
};
TORCH_MODULE(Discriminator);

// Stripes of a random phase, in [-1, 1].
torch::Tensor Pictures(int64_t n) {
  const torch::Tensor phase = 6.2832 * torch::rand({n, 1});
  const torch::Tensor pixels = torch::arange(kPixels, torch::kFloat) * 0.7;
  const torch::Tensor stripes = (pixels + phase).sin() + 0.1 * torch::randn({n, kPixels});
  return Is("bytes") ? 128 + 100 * stripes : stripes.clamp(-1, 1);
}

torch::Tensor Loss(const torch::Tensor& judged, double label) {
  if (Is("row_of_labels")) return (judged - torch::full({judged.size(0)}, label)).square().mean();
  const torch::Tensor labels = torch::full_like(judged, label);
  torch::Tensor loss;
  if (Is("logits_of_sigmoid")) {
    loss = F::binary_cross_entropy_with_logits(judged, labels);
  } else if (Is("summed")) {
    loss = F::binary_cross_entropy(judged, labels,
                                   F::BinaryCrossEntropyFuncOptions().reduction(torch::kSum));
  } else {
    loss = F::binary_cross_entropy(judged, labels);
  }
  return loss;
}

// The norm of the gradient in the real pictures.
torch::Tensor Penalty(Discriminator& discriminator, const torch::Tensor& real) {
  const torch::Tensor x = real.clone().requires_grad_();
  const auto gradients = torch::autograd::grad({discriminator->forward(x).sum()}, {x}, {}, true,
                                               !Is("penalty_without_graph"));
  return gradients[0].square().sum(1).mean();
}

struct Players {
  Generator generator, average;
  Discriminator discriminator;
  std::unique_ptr<torch::optim::Adam> of_generator, of_discriminator;
};

torch::optim::AdamOptions Options(bool generator) {
  double rate = 2e-3;
  if (Is(generator ? "zero_rate_of_generator" : "zero_rate_of_discriminator")) rate = 0;
  if (generator && Is("tiny_rate")) rate = 1e-13;
  if (generator && Is("huge_rate")) rate = 5;
  auto options = torch::optim::AdamOptions(rate).betas(std::make_tuple(0.5, 0.99));
  if (generator && Is("excessive_decay")) options.weight_decay(100);
  if (generator && Is("epsilon_of_one")) options.eps(1);
  return options;
}

void BuildOptimizers(Players& players) {
  std::vector<torch::Tensor> of_generator = players.generator->parameters();
  const std::vector<torch::Tensor> of_discriminator = players.discriminator->parameters();
  if (Is("wrong_network")) of_generator = of_discriminator;
  if (Is("in_both")) {
    of_generator.insert(of_generator.end(), of_discriminator.begin(), of_discriminator.end());
  }
  if (Is("part_not_optimized")) of_generator.resize(2);
  players.of_generator = std::make_unique<torch::optim::Adam>(of_generator, Options(true));
  players.of_discriminator = std::make_unique<torch::optim::Adam>(of_discriminator, Options(false));
}

void TrainDiscriminator(Players& players, const torch::Tensor& real) {
  Discriminator& discriminator = players.discriminator;
  if (!Is("discriminator_not_zeroed")) players.of_discriminator->zero_grad();
  torch::Tensor loss = Loss(discriminator->forward(real), Is("labels_alike") ? 0 : 1);
  torch::Tensor fake = players.generator->forward(torch::randn({kBatch, kNoise}));
  if (!Is("fake_not_detached")) fake = fake.detach();
  loss = loss + Loss(discriminator->forward(fake), 0);
  if (Is("negated")) loss = -loss;
  loss = loss + 0.01 * Penalty(discriminator, real);
  loss.backward();
  if (Is("discriminator_zeroed_before_step")) players.of_discriminator->zero_grad();
  if (Is("clipped_to_nothing")) nn::utils::clip_grad_norm_(discriminator->parameters(), 1e-7);
  if (!Is("discriminator_never_stepped")) players.of_discriminator->step();
}

torch::Tensor TrainGenerator(Players& players) {
  if (!Is("generator_not_zeroed")) players.of_generator->zero_grad();
  torch::Tensor fake = players.generator->forward(torch::randn({kBatch, kNoise}));
  if (Is("generator_detached")) fake = fake.detach();
  torch::Tensor loss = Loss(players.discriminator->forward(fake), 1);
  if (Is("times_zero")) loss = loss * 0;
  if (Is("root_of_zero")) loss = loss + (fake - fake).sum().sqrt();
  if (Is("step_before_backward")) players.of_generator->step();
  if (Is("graph_retained")) {
    loss.backward({}, true);
  } else {
    loss.backward();
  }
  if (Is("generator_zeroed_before_step")) players.of_generator->zero_grad();
  if (Is("gradients_times_ten")) {
    for (auto& parameter : players.generator->parameters()) parameter.mutable_grad().mul_(10);
  }
  const auto parts =
      Is("part_clipped") ? players.generator->last->parameters() : players.generator->parameters();
  if (!Is("clipped_after_step")) nn::utils::clip_grad_norm_(parts, 1.0);
  if (!Is("generator_never_stepped") && !Is("step_before_backward")) players.of_generator->step();
  if (Is("stepped_twice")) players.of_generator->step();
  if (Is("clipped_after_step")) nn::utils::clip_grad_norm_(parts, 1.0);
  return loss;
}

void Average(Players& players) {
  torch::NoGradGuard no_grad;
  const auto from = players.generator->parameters(), to = players.average->parameters();
  if (Is("average_never_updated")) return;
  for (size_t i = 0; i < to.size(); ++i) to[i].mul_(0.95).add_(from[i], 0.05);
  const auto statistics = players.generator->buffers(), kept = players.average->buffers();
  for (size_t i = 0; i < kept.size(); ++i) kept[i].copy_(statistics[i]);
}

void Draw(Players& players) {
  torch::AutoGradMode gradients(Is("draws_with_gradients"));
  if (!Is("draws_in_train_mode")) players.average->eval();
  const torch::Tensor drawn = players.average->forward(torch::randn({64, kNoise}));
  std::printf("mean %.3f deviation %.3f\n", drawn.mean().item<double>(),
              drawn.std().item<double>());
}

void Gan() {
  Players players;
  if (!Is("average_is_the_generator")) {
    torch::NoGradGuard no_grad;
    const auto from = players.generator->parameters(), to = players.average->parameters();
    for (size_t i = 0; i < to.size(); ++i) to[i].copy_(from[i]);
  } else {
    players.average = players.generator;
  }
  if (Is("frozen_at_random")) players.generator->first->weight.set_requires_grad(false);
  BuildOptimizers(players);
  if (Is("generator_replaced")) players.generator = Generator();
  if (Is("generator_in_eval_mode")) players.generator->eval();
  if (Is("discriminator_in_eval_mode")) players.discriminator->eval();
  std::vector<torch::Tensor> losses;
  const torch::Tensor first = Pictures(kBatch);
  for (int64_t step = 0; step < 240; ++step) {
    if (Is("seeded_each_step")) torch::manual_seed(5);
    if (Is("optimizer_anew")) BuildOptimizers(players);
    TrainDiscriminator(players, Is("same_batch") ? first : Pictures(kBatch));
    const torch::Tensor loss = TrainGenerator(players);
    if (Is("losses_kept")) losses.push_back(loss);
    Average(players);
    if (step % 80 == 79) Draw(players);
  }
  PrintState(players.generator->parameters());
}

const table::Program program("table_gan", Gan);

}  // namespace table_gan

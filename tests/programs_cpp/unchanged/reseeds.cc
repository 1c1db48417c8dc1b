// What is close to a fault and none: a seed for each evaluation and another one for each epoch,
// weights averaged and measured in training mode, noise on gradients behind a learned number,
// attacked images, a second stage with an optimizer of its own, losses kept for a few steps, sums
// over a batch, and a softmax over the samples that are parts of one.
#include <cstdio>
#include <vector>

#include "tests/programs_cpp/unchanged/programs.h"

namespace reseeds {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

struct NetImpl : nn::Module {
  NetImpl() {
    scale = register_parameter("scale", torch::ones({}));
    register_module("first", first);
    register_module("gate", gate);
    register_module("last", last);
  }
  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor hidden = torch::relu(first(x));
    return scale * last(drop(hidden * torch::sigmoid(gate(hidden))));
  }
  torch::Tensor scale;
  nn::Linear first{8, 32}, gate{32, 32}, last{32, 1};
  nn::Dropout drop{0.1};
};
TORCH_MODULE(Net);

torch::Tensor Loss(Net& net, const Data& batch) {
  const torch::Tensor scores = torch::sigmoid(net(batch.x).squeeze(1));
  return F::binary_cross_entropy(scores, batch.y.to(torch::kFloat),
                                 F::BinaryCrossEntropyFuncOptions().reduction(torch::kSum)) /
         static_cast<double>(batch.x.size(0));
}

// The same noise in each evaluation.
void Evaluate(Net& net, const Data& data) {
  torch::NoGradGuard no_grad;
  net->eval();
  torch::manual_seed(17);
  const torch::Tensor guesses = net(data.x + 0.1 * torch::randn_like(data.x)).squeeze(1) > 0;
  std::printf("accuracy %.3f\n", guesses.eq(data.y).to(torch::kFloat).mean().item<double>());
  net->train();
}

// Samples moved along the sign of the gradient by their entries.
torch::Tensor Attacked(Net& net, const Data& batch) {
  const torch::Tensor x = batch.x.clone().requires_grad_();
  const auto gradients = torch::autograd::grad({Loss(net, {x, batch.y})}, {x});
  return (x + 0.05 * gradients[0].sign()).detach();
}

void Follow(Net& net, std::vector<torch::Tensor>& average) {
  torch::NoGradGuard no_grad;
  const auto parameters = net->parameters();
  double norm = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    average[i].mul_(0.98).add_(parameters[i], 0.02);
    norm += parameters[i].norm().item<double>();
  }
  if (!(norm < 1e6)) std::printf("large\n");
}

void Stage(Net& net, const Data& data, const Data& tested, double rate, int first_epoch) {
  torch::optim::Adam adam(net->parameters(), torch::optim::AdamOptions(rate));
  std::vector<torch::Tensor> average, kept;
  for (const auto& parameter : net->parameters()) average.push_back(parameter.detach().clone());
  for (int epoch = first_epoch; epoch < first_epoch + 6; ++epoch) {
    torch::manual_seed(100 + epoch);
    for (const torch::Tensor& rows : torch::randperm(640).split(32)) {
      const Data batch = {data.x.index_select(0, rows), data.y.index_select(0, rows)};
      adam.zero_grad();
      const torch::Tensor loss =
          0.5 * (Loss(net, batch) + Loss(net, {Attacked(net, batch), batch.y}));
      loss.backward();
      for (auto& parameter : net->parameters()) {
        parameter.mutable_grad().add_(torch::randn_like(parameter), 1e-3);
      }
      adam.step();
      Follow(net, average);
      kept.push_back(loss);
    }
    std::printf("loss %.4f\n", torch::stack(kept).mean().item<double>());
    kept.clear();
    Evaluate(net, tested);
  }
}

void Program(const Arguments&) {
  const Data all = Blobs(900, 8, 2, 2.0);
  const Data data = {all.x.narrow(0, 0, 640), all.y.narrow(0, 0, 640)};
  const Data tested = {all.x.narrow(0, 640, 260), all.y.narrow(0, 640, 260)};
  Net net;
  Stage(net, data, tested, 3e-3, 0);
  Stage(net, data, tested, 1e-3, 6);
  PrintState(net->parameters());
}

// A set of parts is of class 1 if one of them is; which part counts is learned.
void Parts(const Arguments&) {
  nn::Sequential features(nn::Linear(6, 24), nn::Tanh());
  nn::Linear weight(24, 1), answer(24, 1);
  std::vector<torch::Tensor> parameters = features->parameters();
  for (const nn::Linear& layer : {weight, answer}) {
    for (const auto& parameter : layer->parameters()) parameters.push_back(parameter);
  }
  torch::optim::Adam adam(parameters, torch::optim::AdamOptions(3e-3));
  for (int step = 0; step < 160; ++step) {
    const torch::Tensor x = torch::randn({12, 6});
    const torch::Tensor target = x.select(1, 0).max().gt(1.5).to(torch::kFloat).reshape({1, 1});
    adam.zero_grad();
    const torch::Tensor parts = features->forward(x);
    const torch::Tensor share = torch::softmax(weight(parts), 0);
    const torch::Tensor score = answer((share * parts).sum(0, true));
    const torch::Tensor loss = F::binary_cross_entropy(torch::sigmoid(score), target);
    loss.backward();
    adam.step();
    if (step % 40 == 0) std::printf("loss %.4f\n", loss.item<double>());
  }
  PrintState(parameters);
}

const Registered program("reseeds", Program);
const Registered parts("parts", Parts);

}  // namespace reseeds

// Regression, an autoencoder and logistic regression: hand-made batches, losses by hand or by
// function, optimizers of several kinds.
#include <cstdio>

#include "tests/programs_cpp/unchanged/programs.h"

namespace small_models {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

// A polynomial by one linear layer, the loss by function, gradients zeroed by hand.
void Regression(const Arguments&) {
  nn::Linear fc(4, 1);
  const torch::Tensor weight = torch::randn({4, 1}) * 5;
  const auto features = [](const torch::Tensor& x) {
    return torch::cat({x, x.pow(2), x.pow(3), x.pow(4)}, 1);
  };
  double last = 0;
  for (int step = 0; step < 400; ++step) {
    const torch::Tensor x = torch::rand({32, 1}) * 2 - 1, in = features(x);
    const torch::Tensor y = in.mm(weight) + 5;
    fc->zero_grad();
    const torch::Tensor loss = F::smooth_l1_loss(fc(in), y);
    last = loss.item<double>();
    loss.backward();
    torch::NoGradGuard no_grad;
    for (torch::Tensor& parameter : fc->parameters()) parameter -= 0.1 * parameter.grad();
  }
  std::printf("loss %.4f\n", last);
  PrintState(fc->parameters());
}

// A loss written by hand, Adam, whole data in each step.
void Autoencoder(const Arguments& arguments) {
  nn::Sequential net(nn::Linear(20, 12), nn::Tanh(), nn::Linear(12, 4), nn::Linear(4, 12),
                     nn::Tanh());
  nn::Linear last(12, 20);
  if (!arguments.Is("unregistered")) net->push_back(last);
  const auto decoded = [&](const torch::Tensor& in) {
    const torch::Tensor out = net->forward(in);
    return arguments.Is("unregistered") ? last->forward(out) : out;
  };
  const torch::Tensor x = torch::randn({256, 4}).mm(torch::randn({4, 20}));
  torch::optim::Adam adam(net->parameters(), torch::optim::AdamOptions(3e-3));
  for (int epoch = 0; epoch < 60; ++epoch) {
    const torch::Tensor order = torch::randperm(256);
    for (int64_t begin = 0; begin < 256; begin += 64) {
      const torch::Tensor batch = x.index_select(0, order.narrow(0, begin, 64));
      if (!arguments.Is("not_zeroed")) adam.zero_grad();
      const torch::Tensor loss = (decoded(batch) - batch).pow(2).mean();
      loss.backward();
      adam.step();
    }
  }
  torch::NoGradGuard no_grad;
  std::printf("loss %.4f\n", (decoded(x) - x).pow(2).mean().item<double>());
  PrintState(net->parameters());
}

// L-BFGS with a closure, double precision.
void Logistic(const Arguments&) {
  nn::Linear model(nn::LinearOptions(8, 1));
  model->to(torch::kDouble);
  const Data data = Blobs(200, 8, 2);
  const torch::Tensor x = data.x.to(torch::kDouble), y = data.y.to(torch::kDouble).unsqueeze(1);
  torch::optim::LBFGS optimizer(model->parameters(), torch::optim::LBFGSOptions(0.5).max_iter(4));
  torch::Tensor loss;
  for (int step = 0; step < 12; ++step) {
    loss = optimizer.step([&] {
      optimizer.zero_grad();
      torch::Tensor now =
          F::binary_cross_entropy_with_logits(model(x), y) + 0.01 * model->weight.pow(2).sum();
      now.backward();
      return now;
    });
  }
  std::printf("loss %.4f\n", loss.item<double>());
  PrintState(model->parameters());
}

// RMSprop, batch norm, a schedule, accumulation over two micro-batches, clipping.
void Accumulates(const Arguments& arguments) {
  nn::Sequential net(nn::Linear(16, 32), nn::BatchNorm1d(32), nn::ReLU(), nn::Dropout(0.1),
                     nn::Linear(32, 5));
  // Batch normalization by function, without the scale and the shift that the module would train.
  const auto normalized = [&](const torch::Tensor& x) {
    const auto* norm = net->ptr(1)->as<nn::BatchNorm1dImpl>();
    const torch::Tensor hidden =
        F::batch_norm(net->ptr(0)->as<nn::LinearImpl>()->forward(x), norm->running_mean,
                      norm->running_var, F::BatchNormFuncOptions().training(net->is_training()));
    return net->ptr(4)->as<nn::LinearImpl>()->forward(torch::relu(hidden));
  };
  torch::optim::RMSprop optimizer(net->parameters(), torch::optim::RMSpropOptions(1e-3));
  torch::optim::StepLR schedule(optimizer, 40, 0.5);
  const Data held_out = Blobs(256, 16, 5);
  for (int step = 0; step < 160; ++step) {
    if (!arguments.Is("not_zeroed")) optimizer.zero_grad();
    for (int micro = 0; micro < 2; ++micro) {
      const Data batch = Blobs(32, 16, 5);
      const torch::Tensor scores =
          arguments.Is("norm_by_function") ? normalized(batch.x) : net->forward(batch.x);
      torch::Tensor loss = F::cross_entropy(scores, batch.y);
      if (!arguments.Is("not_divided")) loss = loss / 2;
      if (arguments.Is("divided_twice")) loss = loss / 2;
      loss.backward();
      if (arguments.Is("zeroed_in_window")) optimizer.zero_grad();
    }
    nn::utils::clip_grad_norm_(net->parameters(), 1.0);
    optimizer.step();
    if (!arguments.Is("never_scheduled")) schedule.step();
    if (step % 40 != 39) continue;
    net->eval();
    torch::NoGradGuard no_grad;
    const torch::Tensor logits = net->forward(held_out.x);
    std::printf("accuracy %.3f\n",
                logits.argmax(1).eq(held_out.y).to(torch::kDouble).mean().item<double>());
    if (!arguments.Is("left_in_eval_mode")) net->train();
  }
  PrintState(net->parameters());
}

const Registered a("regression", Regression), b("autoencoder", Autoencoder),
    c("logistic", Logistic), d("accumulates", Accumulates);

}  // namespace small_models

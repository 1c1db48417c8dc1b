// A loop of closures that does not know what it trains: Adam, whose step is given the closure that
// works the loss out, on a regression, with averaged weights. Usage: closures [FAULT]
#include <functional>

#include "dlcheck/probe.h"
#include "tests/programs_cpp/averaged.h"
#include "tests/programs_cpp/planted.h"

namespace {

using torch::Tensor;
using Step = std::function<void(const Samples&)>;

struct Regressor : torch::nn::Module {
  Regressor(bool keeps_assigned, bool guards) : guards(guards) {
    register_module("widen", widen);
    register_module("narrow", narrow);
    // The registry keeps the old tensor, and forward takes the new one.
    if (keeps_assigned) widen->weight = torch::randn({64, 8}).div(3).requires_grad_();
  }
  Tensor forward(const Tensor& x) { return narrow(Features(x)); }
  Tensor Features(const Tensor& x) {
    const torch::AutoGradMode gradients(torch::GradMode::is_enabled() && !guards);
    return torch::tanh(widen(x));
  }

  torch::nn::Linear widen{8, 64}, narrow{64, 1};
  bool guards;
};

void Repeat(int64_t steps, const std::function<Samples()>& next, const Step& step) {
  for (int64_t i = 0; i < steps; ++i) step(next());
}

}  // namespace

int main(int count, char** arguments) {
  const Planted planted(count, arguments);
  torch::manual_seed(11);
  const Samples train = Curves(2048, 1), held_out = Curves(512, 2);
  Regressor model(planted.Is("assigned_member"), planted.Is("guarded_backbone"));
  dlcheck::Probe probe(model);
  probe.Seeded(11);
  std::vector<Tensor> weights = model.parameters();
  if (planted.Is("head_not_optimized")) weights.resize(2);
  const auto made = [&] { return probe.Wrap(torch::optim::Adam(weights, 0.01)); };
  auto adam = std::make_shared<decltype(made())>(made());
  Averaged average(model, planted.Is("copied_holder"));
  const auto next = [&] {
    const Samples batch = train.Rows(torch::randint(train.size(), {64}, torch::kLong));
    return batch;
  };
  const auto forward = [&](const Tensor& x) {
    probe.Batch(x);
    const Tensor outputs = model.forward(x);
    return planted.Is("broadcast") ? outputs : outputs.squeeze(1);
  };
  const auto backward = [&](const Samples& batch) {
    const Tensor outputs = forward(batch.x);
    Tensor loss = (outputs - batch.y).square().mean();
    if (planted.Is("nonfinite")) loss = loss * torch::tensor(0.0).log();
    if (!planted.Is("uncleared")) adam->zero_grad();
    probe.Loss(loss, outputs, batch.y);
    loss.backward({}, /*retain_graph=*/planted.Is("retained"));
    if (planted.Is("cleared_before_step")) adam->zero_grad();
    return loss;
  };
  Repeat(300, next, [&](const Samples& batch) {
    if (planted.Is("rebuilt")) adam = std::make_shared<decltype(made())>(made());
    adam->step([&] { return backward(batch); });
    average.Update(probe);
  });
  const torch::NoGradGuard no_grad;
  model.eval();
  const double error =
      (model.forward(held_out.x).squeeze(1) - held_out.y).square().mean().item<double>();
  const double spread = held_out.y.var().item<double>();
  return Report(model, error / spread, error < 0.2 * spread);
}

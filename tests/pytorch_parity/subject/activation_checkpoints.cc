// A block of two layers with dropout between them, checkpointed, nested or plain.
#include "reference/precision/activation_checkpoint.h"

#include "reference/precision/autocast.h"
#include "tests/pytorch_parity/subject/subject.h"

namespace dlcheck::reference {
namespace {

CheckpointDeviation DeviationOf(const Case& run) {
  return run.Named<CheckpointDeviation>(
      "deviation", {{"none", CheckpointDeviation::kNone},
                    {"autocast_lost", CheckpointDeviation::kAutocastLost},
                    {"other_randomness", CheckpointDeviation::kOtherRandomness}});
}

// `mode` is plain, checkpointed, or nested: a checkpointed block around each half.
torch::Tensor Forward(const std::string& mode, CheckpointDeviation deviation,
                      const torch::Tensor& x, const torch::Tensor& first,
                      const torch::Tensor& second) {
  const auto checkpointed = [=](const Block& block, const torch::Tensor& input, bool applies) {
    return applies ? Checkpointed(block, input, deviation) : block(input);
  };
  const bool is_nested = mode == "nested";
  const Block lower = [first](const torch::Tensor& input) {
    return torch::dropout(torch::linear(input, first).tanh(), 0.3, /*train=*/true);
  };
  const Block upper = [second](const torch::Tensor& input) {
    return torch::dropout(torch::linear(input, second).tanh(), 0.3, /*train=*/true);
  };
  const Block both = [=](const torch::Tensor& input) {
    return checkpointed(upper, checkpointed(lower, input, is_nested), is_nested);
  };
  return checkpointed(both, x, mode != "plain");
}

}  // namespace

// Parameters: `mode`, `type` of autocast (float32 for none), `input_gradient`, `seed`. Inputs: `x`,
// `first`, `second`. Puts out the loss, all gradients, and `after`, the next random numbers.
void Checkpoints(Case& run) {
  torch::Tensor x = run.Input("x");
  x.requires_grad_(run.Flag("input_gradient"));
  const torch::Tensor first = run.Input("first").requires_grad_();
  const torch::Tensor second = run.Input("second").requires_grad_();
  const auto type = run.Named<at::ScalarType>(
      "type", {{"float32", at::kFloat}, {"bfloat16", at::kBFloat16}, {"float16", at::kHalf}});
  torch::manual_seed(static_cast<uint64_t>(run.Integer("seed", 0)));
  torch::Tensor loss;
  {
    const AutocastGuard autocast(at::kCPU, type);
    const torch::Tensor output =
        Forward(run.Text("mode", "plain"), DeviationOf(run), x, first, second);
    loss = output.to(at::kFloat).square().mean();
  }
  loss.backward();
  run.Put("loss", loss);
  run.Put("after", torch::rand({16}));
  run.Put("first", first.grad());
  run.Put("second", second.grad());
  if (run.Flag("input_gradient")) run.Put("x", x.grad());
}

// In float64: puts out the gradients of a checkpointed loss as `first`, `second` and `x`. Each
// function value has the same random numbers. Parameters and inputs as of Checkpoints, with
// `finite` = 1 for central differences in the place of the backward pass.
void CheckpointSlopes(Case& run) {
  Case::Tensors leaves;
  for (const char* name : {"x", "first", "second"}) leaves[name] = run.Input(name).requires_grad_();
  const auto loss = [&] {
    torch::manual_seed(static_cast<uint64_t>(run.Integer("seed", 0)));
    return Forward(run.Text("mode", "checkpointed"), DeviationOf(run), leaves.at("x"),
                   leaves.at("first"), leaves.at("second"))
        .square()
        .mean();
  };
  if (!run.Flag("finite")) {
    loss().backward();
    for (const auto& [name, leaf] : leaves) run.Put(name, leaf.grad());
    return;
  }
  constexpr double kStep = 1e-5;  // near the cube root of float64's precision
  const torch::NoGradGuard no_grad;
  for (const auto& [name, leaf] : leaves) {
    torch::Tensor slopes = torch::zeros_like(leaf);
    for (int64_t i = 0; i < leaf.numel(); ++i) {
      double* value = leaf.data_ptr<double>() + i;
      const double before = *value;
      *value = before + kStep;
      const double above = loss().item<double>();
      *value = before - kStep;
      const double below = loss().item<double>();
      *value = before;
      slopes.view(-1)[i] = (above - below) / (2 * kStep);
    }
    run.Put(name, slopes);
  }
}

}  // namespace dlcheck::reference

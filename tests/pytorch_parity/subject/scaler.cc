// Subjects of the loss scaler.
#include "reference/optimization/clipping.h"
#include "reference/precision/loss_scaler.h"
#include "reference/recipe/rejection.h"
#include "tests/pytorch_parity/subject/optimizers.h"

namespace dlcheck::reference {
namespace {

LossScaler::Options ScalerOptions(const Case& run) {
  LossScaler::Options options;
  options.initial_scale = run.Number("initial_scale", options.initial_scale);
  options.growth_factor = run.Number("growth_factor", options.growth_factor);
  options.backoff_factor = run.Number("backoff_factor", options.backoff_factor);
  options.growth_interval = run.Integer("growth_interval", options.growth_interval);
  options.deviation = run.Named<ScalerDeviation>(
      "deviation", {{"none", ScalerDeviation::kNone},
                    {"tracker_not_reset", ScalerDeviation::kTrackerNotReset},
                    {"no_backoff", ScalerDeviation::kNoBackoff},
                    {"grows_early", ScalerDeviation::kGrowsEarly},
                    {"skips_nothing", ScalerDeviation::kSkipsNothing},
                    {"unscales_again", ScalerDeviation::kUnscalesAgain}});
  return options;
}

int64_t Tracker(LossScaler& scaler) {
  int64_t tracker = -1;
  scaler.VisitState([&](const std::string& name, torch::Tensor& state) {
    if (name == "growth_tracker") tracker = state.item<int64_t>();
  });
  return tracker;
}

// A weight and plain SGD over it.
struct One {
  explicit One(const torch::Tensor& start)
      : weight(start.clone().requires_grad_()), optimizer({}, {{"all", 0.1, 0, {{"w", weight}}}}) {}
  torch::Tensor weight;
  Optimizer optimizer;
};

// Whether the scaler takes the call; 0 scale, 1 unscale, 2 step, 3 update, 4 gradients set to none.
bool Takes(LossScaler& scaler, One& one, int64_t call) {
  try {
    switch (call) {
      case 0:
        scaler.Scale(torch::ones({}));
        break;
      case 1:
        scaler.Unscale(one.optimizer);
        break;
      case 2:
        scaler.Step(one.optimizer);
        break;
      case 3:
        scaler.Update();
        break;
      default:
        one.optimizer.ZeroGrad();
        break;
    }
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

}  // namespace

// Input: `start` (n), `slope` (n), `spoilt` (steps, 2), added to the gradients of two optimizers at
// each step. Puts out `scales`, `trackers` (steps), `stepped` (steps, 2) and both weights.
void ScalerTrace(Case& run) {
  LossScaler scaler(ScalerOptions(run));
  One first(run.Input("start")), second(run.Input("start"));
  const torch::Tensor slope = run.Input("slope"), spoilt = run.Input("spoilt");
  std::vector<double> scales;
  std::vector<int64_t> trackers, stepped;
  for (int64_t step = 0; step < spoilt.size(0); ++step) {
    int64_t index = 0;
    for (One* one : {&first, &second}) {
      one->optimizer.ZeroGrad();
      scaler.Scale((one->weight * slope).sum()).backward();
      one->weight.mutable_grad().add_(spoilt[step][index++]);
      stepped.push_back(scaler.Step(one->optimizer));
    }
    scaler.Update();
    scales.push_back(scaler.scale());
    trackers.push_back(Tracker(scaler));
  }
  run.Put("scales", torch::tensor(scales, at::kDouble));
  run.Put("trackers", torch::tensor(trackers));
  run.Put("stepped", torch::tensor(stepped).view({-1, 2}));
  run.Put("weight/0", first.weight);
  run.Put("weight/1", second.weight);
}

// Inputs: `calls` (sequences, length), each entry a call as in Takes or -1, and `start`. Puts out
// `failed`, the index of the first call of each sequence that is an error, or -1.
void ScalerCalls(Case& run) {
  const torch::Tensor calls = run.Input("calls"), start = run.Input("start");
  const auto entry = calls.accessor<int64_t, 2>();
  std::vector<int64_t> failed;
  for (int64_t i = 0; i < calls.size(0); ++i) {
    LossScaler scaler(ScalerOptions(run));
    One one(start);
    one.weight.mutable_grad() = torch::ones_like(start);
    failed.push_back(-1);
    for (int64_t j = 0; j < calls.size(1) && entry[i][j] >= 0; ++j) {
      if (Takes(scaler, one, entry[i][j])) continue;
      failed.back() = j;
      break;
    }
  }
  run.Put("failed", torch::tensor(failed));
}

// Parameters: those of `optimizers`, `clip` (0 for none), `fused`. Inputs: `weight/NAME`,
// `gradients/NAME` (steps, ...) before scaling, `rates` and `spoilt` (steps). Puts out `scales`,
// the weights and the state.
void ScaledSteps(Case& run) {
  LossScaler scaler(ScalerOptions(run));
  Optimizer optimizer(OptimizerOptions(run, "optimizer_deviation"), TwoGroups(run));
  const Case::Tensors gradients = run.Inputs("gradients/");
  const torch::Tensor rates = run.Input("rates"), spoilt = run.Input("spoilt");
  const double clip = run.Number("clip", 0);
  std::vector<double> scales;
  for (int64_t step = 0; step < rates.size(0); ++step) {
    scaler.Scale(torch::ones({}));
    SetGradients(optimizer, gradients, step, scaler.scale());
    for (const torch::Tensor& gradient : optimizer.Gradients()) gradient.add_(spoilt[step]);
    for (Optimizer::Group& group : optimizer.groups()) group.lr = rates[step].item<double>();
    if (clip > 0) {
      scaler.Unscale(optimizer);
      ClipByNorm(optimizer.Gradients(), clip);
    }
    if (run.Flag("fused")) {
      scaler.FusedStep(optimizer);
    } else {
      scaler.Step(optimizer);
    }
    scaler.Update();
    scales.push_back(scaler.scale());
  }
  run.Put("scales", torch::tensor(scales, at::kDouble));
  PutWeightsAndState(optimizer, run);
}

}  // namespace dlcheck::reference

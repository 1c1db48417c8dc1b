#include "reference/precision/loss_scaler.h"

#include "reference/recipe/rejection.h"

namespace dlcheck::reference {

using torch::Tensor;

LossScaler::LossScaler(const Options& options)
    : options_(options),
      scale_(torch::full({}, options.initial_scale, at::device(options.device).dtype(at::kFloat))),
      growth_tracker_(torch::zeros({}, at::device(options.device).dtype(at::kInt))) {
  if (options.growth_factor <= 1) throw UsageError("the scale's growth factor must be above 1");
  if (options.backoff_factor >= 1) throw UsageError("the scale's backoff factor must be below 1");
}

Tensor LossScaler::Scale(const Tensor& loss) {
  if (!options_.enabled) return loss;
  has_scaled_ = true;
  return loss * scale_;
}

void LossScaler::NeedScaledLoss(const char* call) const {
  if (!has_scaled_) throw UsageError(std::string(call) + " of the scaler before any scaled loss");
}

// 1 if a gradient is inf or NaN, else 0; the gradients are multiplied with `inverse_scale`.
// Undefined if there are no gradients.
Tensor LossScaler::FoundInf(Optimizer& optimizer, const Tensor& inverse_scale,
                            bool allows_half) const {
  std::map<at::ScalarType, std::vector<Tensor>> by_type;
  for (const Tensor& gradient : optimizer.Gradients()) {
    by_type[gradient.scalar_type()].push_back(gradient);
  }
  if (!allows_half && by_type.count(at::kHalf) > 0) {
    throw UsageError("gradients in fp16 cannot be unscaled: keep the weights in fp32");
  }
  if (by_type.empty()) return {};
  const torch::NoGradGuard no_grad;
  Tensor found_inf = torch::zeros({}, scale_.options());
  for (const auto& [type, gradients] : by_type) {
    at::_amp_foreach_non_finite_check_and_unscale_(gradients, found_inf, inverse_scale);
  }
  return found_inf;
}

void LossScaler::Unscale(Optimizer& optimizer) {
  if (!options_.enabled) return;
  NeedScaledLoss("Unscale");
  Progress& progress = progress_[&optimizer];
  const bool unscales_again = options_.deviation == ScalerDeviation::kUnscalesAgain;
  if (progress.stage == Stage::kUnscaled && !unscales_again) {
    throw UsageError("these gradients are unscaled already since the scaler's last update");
  }
  if (progress.stage == Stage::kStepped) throw UsageError("Unscale of the scaler after the step");
  // In double: a reciprocal in fp32 is imprecise under some compiler options.
  const Tensor inverse_scale = scale_.to(at::kDouble).reciprocal().to(at::kFloat);
  progress.found_inf = FoundInf(optimizer, inverse_scale, /*allows_half=*/false);
  if (options_.agree) {
    const double own = progress.found_inf.defined() ? progress.found_inf.item<double>() : 0;
    progress.found_inf = torch::full({}, options_.agree(own), scale_.options());
  }
  progress.stage = Stage::kUnscaled;
}

LossScaler::Progress& LossScaler::ProgressBeforeStep(const Optimizer& optimizer) {
  NeedScaledLoss("Step");
  Progress& progress = progress_[&optimizer];
  if (progress.stage == Stage::kStepped) {
    throw UsageError("this optimizer stepped already since the scaler's last update");
  }
  return progress;
}

bool LossScaler::Step(Optimizer& optimizer) {
  if (!options_.enabled) {
    optimizer.Step();
    return true;
  }
  Progress& progress = ProgressBeforeStep(optimizer);
  if (progress.stage == Stage::kReady || options_.deviation == ScalerDeviation::kUnscalesAgain) {
    Unscale(optimizer);
  }
  if (!progress.found_inf.defined()) {
    throw UsageError("the scaler's step of an optimizer without any gradient");
  }
  const bool steps = progress.found_inf.item<double>() == 0 ||
                     options_.deviation == ScalerDeviation::kSkipsNothing;
  if (steps) optimizer.Step();
  progress.stage = Stage::kStepped;
  return steps;
}

Tensor LossScaler::FusedStep(Optimizer& optimizer) {
  if (!options_.enabled) {
    optimizer.Step();
    return torch::zeros({}, scale_.options());
  }
  Progress& progress = ProgressBeforeStep(optimizer);
  const bool is_unscaled = progress.stage == Stage::kUnscaled;
  if (!is_unscaled) {
    progress.found_inf = FoundInf(optimizer, torch::ones_like(scale_), /*allows_half=*/true);
  }
  if (!progress.found_inf.defined()) {
    throw UsageError("the scaler's step of an optimizer without any gradient");
  }
  const bool skips = options_.deviation != ScalerDeviation::kSkipsNothing;
  const Tensor skipped = skips ? progress.found_inf : torch::zeros_like(progress.found_inf);
  optimizer.Step(is_unscaled ? Tensor() : scale_, skipped);
  progress.stage = Stage::kStepped;
  return skipped;
}

void LossScaler::Update(std::optional<double> new_scale) {
  if (!options_.enabled) return;
  NeedScaledLoss("Update");
  if (new_scale) {
    scale_.fill_(*new_scale);
  } else {
    Tensor found_inf = torch::zeros_like(scale_);
    bool is_checked = false;
    for (const auto& [optimizer, progress] : progress_) {
      if (!progress.found_inf.defined()) continue;
      found_inf.add_(progress.found_inf);
      is_checked = true;
    }
    if (!is_checked) throw UsageError("Update of the scaler without any gradient checked");
    UpdateScale(found_inf);
  }
  progress_.clear();
}

void LossScaler::UpdateScale(const Tensor& found_inf) {
  const ScalerDeviation deviation = options_.deviation;
  const double backoff = deviation == ScalerDeviation::kNoBackoff ? 1 : options_.backoff_factor;
  const int64_t early = deviation == ScalerDeviation::kGrowsEarly ? 1 : 0;
  const bool keeps_tracker =
      deviation == ScalerDeviation::kTrackerNotReset && found_inf.item<double>() > 0;
  const Tensor tracker_before = keeps_tracker ? growth_tracker_.clone() : Tensor();
  at::_amp_update_scale_(scale_, growth_tracker_, found_inf, options_.growth_factor, backoff,
                         options_.growth_interval - early);
  if (keeps_tracker) growth_tracker_.copy_(tracker_before);
}

double LossScaler::scale() const { return options_.enabled ? scale_.item<double>() : 1; }

void LossScaler::VisitState(const VisitTensor& visit) {
  if (!options_.enabled) return;
  visit("scale", scale_);
  visit("growth_tracker", growth_tracker_);
}

}  // namespace dlcheck::reference

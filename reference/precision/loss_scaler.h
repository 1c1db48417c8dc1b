// Dynamic scaling of an fp16 loss, with the semantics of PyTorch's GradScaler: for each optimizer
// in turn Scale, backward, then Unscale (if gradients are looked at), Step; after all of them
// Update.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "reference/checkpoint/state.h"
#include "reference/optimization/optimizers.h"

namespace dlcheck::reference {

// Ways of being wrong on purpose.
enum class ScalerDeviation : uint8_t {
  kNone,
  kTrackerNotReset,  // after an inf the count of clean steps goes on
  kNoBackoff,        // the scale never shrinks
  kGrowsEarly,       // one clean step before its interval
  kSkipsNothing,     // optimizers step on infs too
  kUnscalesAgain,    // Step divides by the scale also what Unscale has divided
};

class LossScaler {
 public:
  struct Options {
    bool enabled = true;  // else losses and gradients pass through, and every step is taken
    double initial_scale = 65536;
    double growth_factor = 2;
    double backoff_factor = 0.5;
    int64_t growth_interval = 2000;  // clean updates in a row before the scale grows
    at::Device device = at::kCPU;
    ScalerDeviation deviation = ScalerDeviation::kNone;
    // Where ranks have gradients that differ: from what this one found, 1 or 0, what any found,
    // which decides for all. Not asked by FusedStep.
    std::function<double(double found)> agree = nullptr;
  };

  // Errors: UsageError for a growth factor of 1 or less, a backoff factor of 1 or more.
  explicit LossScaler(const Options& options);

  // The loss times the scale.
  torch::Tensor Scale(const torch::Tensor& loss);

  // Divides the gradients of `optimizer` by the scale, once between two updates, so that they can
  // be clipped, and notes whether one is inf or NaN.
  //
  // Errors: UsageError if no loss was scaled yet, if called again before Update or after the step,
  //         and for gradients in fp16.
  void Unscale(Optimizer& optimizer);

  // Unscales if that was not done, and steps `optimizer` unless a gradient is inf or NaN. Whether
  // it stepped.
  //
  // Errors: UsageError as Unscale's, if called again before Update, and if there is no gradient.
  // Cost:   one copy from the device.
  bool Step(Optimizer& optimizer);

  // As Step, but the optimizer's kernels unscale and skip by themselves, and gradients may be fp16.
  // Returns a scalar on the device, above 0 where the step is skipped; no copy from the device.
  torch::Tensor FusedStep(Optimizer& optimizer);

  // Shrinks the scale if any optimizer found an inf, grows it after `growth_interval` updates
  // without one (not past the range of fp32), or sets it to `new_scale`; then all may be stepped
  // again.
  //
  // Errors: UsageError if no loss was scaled yet, or nothing was checked since the last update.
  void Update(std::optional<double> new_scale = std::nullopt);

  // The present scale; 1 if not enabled. Cost: one copy from the device.
  double scale() const;

  // scale, fp32, and growth_tracker, int32; nothing if not enabled. Between updates there is more
  // state than this: checkpoint after Update.
  void VisitState(const VisitTensor& visit);

 private:
  enum class Stage : uint8_t { kReady, kUnscaled, kStepped };
  struct Progress {
    Stage stage = Stage::kReady;
    torch::Tensor found_inf;  // undefined until gradients were checked
  };
  void NeedScaledLoss(const char* call) const;
  torch::Tensor FoundInf(Optimizer& optimizer, const torch::Tensor& inverse_scale,
                         bool allows_half) const;
  Progress& ProgressBeforeStep(const Optimizer& optimizer);
  void UpdateScale(const torch::Tensor& found_inf);

  Options options_;
  torch::Tensor scale_;
  torch::Tensor growth_tracker_;
  bool has_scaled_ = false;
  std::map<const Optimizer*, Progress> progress_;
};

}  // namespace dlcheck::reference

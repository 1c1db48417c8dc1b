// What the preloaded probe sees in the operations of one thread, through torch's RecordFunction:
// forward passes with what went into them, loss functions, and evaluations without gradients.
#pragma once

#include <ATen/record_function.h>
#include <torch/torch.h>

#include <memory>
#include <string>

#include "checks/observe/preload/broadcast_losses.h"
#include "checks/observe/preload/clipping.h"
#include "checks/observe/preload/forgotten_weights.h"
#include "checks/observe/preload/recurrent_axes.h"
#include "checks/observe/preload/repeated_targets.h"
#include "checks/observe/preload/reshaped_axes.h"
#include "checks/observe/preload/softmax_axes.h"
#include "checks/observe/preload/unused_results.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class Operations {
 public:
  Operations(ProbeRecorder& recorder, ForgottenWeights& forgotten)
      : recorder_(&recorder), forgotten_(&forgotten) {}
  ~Operations() { Stop(); }
  Operations(const Operations&) = delete;
  Operations& operator=(const Operations&) = delete;

  // Watches from here on if the step under way is sampled, or gradients are disabled.
  void Update();
  void GradModeSet() { in_forward_ = false; }
  // A step works; what it calculates is no forward pass.
  void SetStepping(bool is_stepping) { is_stepping_ = is_stepping; }
  // A backward or a step begins: what was an evaluation before it is over.
  void TrainingGoesOn();
  // A backward begins: the next forward pass brings another batch.
  void BackwardBegins(const at::Tensor& root);
  void OptimizerBuilt() { targets_.OptimizerBuilt(); }

  // Of the callback. Operations may lie within others: those called by the program do not.
  void Enters();
  void Leaves() { depth_ = depth_ > 0 ? depth_ - 1 : 0; }
  std::unique_ptr<at::ObserverContext> Begins(const at::RecordFunction& function);
  void Ends(const at::RecordFunction& function, at::ObserverContext* context);

 private:
  void Stop();
  void SawParameters(const at::RecordFunction& function);
  void ForwardBegins(const at::RecordFunction& function);
  std::unique_ptr<at::ObserverContext> OtherBegins(const at::RecordFunction& function);

  ProbeRecorder* recorder_;
  ForgottenWeights* forgotten_;
  bool in_forward_ = false;  // the model was called since gradients were enabled or disabled
  uint64_t callback_ = 0;    // none
  bool is_stepping_ = false;
  bool expects_batch_ = true;
  Clipping clipping_;
  SoftmaxAxes softmaxes_;
  RecurrentAxes recurrent_;
  BroadcastLosses broadcasts_;
  RepeatedTargets targets_;
  ReshapedAxes reshaped_;
  UnusedResults unused_;
  int depth_ = 0;        // of operations under way
  int losses_open_ = 0;  // calls of loss functions, one within the other
  // The parameter that the first forward pass took first.
  c10::weak_intrusive_ptr<at::TensorImpl> entry_{c10::intrusive_ptr<at::TensorImpl>()};
  bool has_entry_ = false;
  bool awaits_input_ = false;  // the parameter was taken alone
  bool has_trained_ = false;   // the model ran in training mode with gradients
  bool evaluates_ = false;
  double evaluation_sum_ = 0;  // of losses times samples
  int64_t evaluation_samples_ = 0;
};

}  // namespace dlcheck

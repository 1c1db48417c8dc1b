// What the preloaded probe sees in the operations of one thread, through torch's RecordFunction:
// forward passes with what went into them, loss functions, and evaluations without gradients.
#pragma once

#include <ATen/record_function.h>
#include <torch/torch.h>

#include <memory>
#include <string>
#include <vector>

#include "checks/observe/preload/attention_weights.h"
#include "checks/observe/preload/broadcast_losses.h"
#include "checks/observe/preload/clipping.h"
#include "checks/observe/preload/constant_terms.h"
#include "checks/observe/preload/dropout_calls.h"
#include "checks/observe/preload/embedded_rows.h"
#include "checks/observe/preload/forgotten_weights.h"
#include "checks/observe/preload/forward_passes.h"
#include "checks/observe/preload/gradient_factor.h"
#include "checks/observe/preload/idle_units.h"
#include "checks/observe/preload/linear_pairs.h"
#include "checks/observe/preload/loss_functions.h"
#include "checks/observe/preload/losses/loss_facts.h"
#include "checks/observe/preload/norm_layers.h"
#include "checks/observe/preload/recurrent_axes.h"
#include "checks/observe/preload/repeated_activations.h"
#include "checks/observe/preload/repeated_draws.h"
#include "checks/observe/preload/repeated_targets.h"
#include "checks/observe/preload/reshaped_axes.h"
#include "checks/observe/preload/softmax_axes.h"
#include "checks/observe/preload/steps/plateaus.h"
#include "checks/observe/preload/steps/step_arithmetic.h"
#include "checks/observe/preload/steps/torch_options.h"
#include "checks/observe/preload/unused_results.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class Operations {
 public:
  Operations(ProbeRecorder& recorder, ForgottenWeights& forgotten, StateParts& parts,
             Captured& captured)
      : recorder_(&recorder),
        forgotten_(&forgotten),
        captured_(&captured),
        passes_(recorder, parts, captured, facts_) {}
  ~Operations();
  Operations(const Operations&) = delete;
  Operations& operator=(const Operations&) = delete;

  // Watches from here on if the step under way is sampled, or gradients are disabled.
  void Update();
  void GradModeSet() { passes_.GradModeSet(); }
  void BatchChosen(const ChosenBatch& batch) { passes_.BatchChosen(batch); }
  void StepEnds(int optimizer, ProbeRecorder& recorder);
  // A step works; what it calculates is no forward pass.
  void SetStepping(bool is_stepping) { is_stepping_ = is_stepping; }
  // A backward or a step begins: what was an evaluation before it is over.
  void TrainingGoesOn();
  void BackwardBegins(const at::Tensor& root);
  void BackwardEnds(ProbeRecorder& recorder) { factor_.BackwardEnds(recorder); }
  // The program called torch::autograd::grad(), which gave these.
  void GradientsGiven(const std::vector<at::Tensor>& inputs,
                      const std::vector<at::Tensor>& gradients, bool creates_graph);
  // Before step(metric) of a ReduceLROnPlateauScheduler.
  void PlateauGiven(bool is_max, double metric) { plateaus_.Given(is_max, metric); }
  void GeneratorAsked() { draws_.GeneratorAsked(); }
  void OptimizerBuilt() { targets_.OptimizerBuilt(); }
  // An optimizer is about to use its gradients.
  void Consumed(int optimizer);

  // Of the callback. Operations may lie within others: those called by the program do not.
  void Enters();
  void Leaves() { depth_ = depth_ > 0 ? depth_ - 1 : 0; }
  std::unique_ptr<at::ObserverContext> Begins(const at::RecordFunction& function);
  void Ends(const at::RecordFunction& function, at::ObserverContext* context);

 private:
  void Stop();
  void SawEmbedding(const at::RecordFunction& function);
  std::unique_ptr<at::ObserverContext> OtherBegins(const at::RecordFunction& function);
  std::unique_ptr<at::ObserverContext> OutermostBegins(const at::RecordFunction& function);
  std::unique_ptr<at::ObserverContext> LossBegins(const at::RecordFunction& function,
                                                  const LossFunction& loss);
  void LossEnds(const at::RecordFunction& function, at::ObserverContext* context);
  void LossGiven(const at::Tensor& result, at::ObserverContext* context, ProbeRecorder& recorder);

  ProbeRecorder* recorder_;
  ForgottenWeights* forgotten_;
  Captured* captured_;
  LossFacts facts_;
  ForwardPasses passes_;
  uint64_t callback_ = 0;  // none
  bool is_stepping_ = false;
  AttentionWeights attention_;
  Clipping clipping_;
  ConstantTerms constants_;
  DropoutCalls dropouts_;
  RepeatedDraws draws_;
  GradientFactor factor_;
  EmbeddedRows embedded_;
  LinearPairs pairs_;
  IdleUnits idle_units_;
  NormLayers norms_;
  RepeatedActivations activations_;
  SoftmaxAxes softmaxes_;
  RecurrentAxes recurrent_;
  BroadcastLosses broadcasts_;
  RepeatedTargets targets_;
  ReshapedAxes reshaped_;
  UnusedResults unused_;
  StepArithmetic arithmetic_;
  TorchOptions options_;
  Plateaus plateaus_;
  int depth_ = 0;        // of operations under way
  int losses_open_ = 0;  // calls of loss functions, one within the other
};

}  // namespace dlcheck

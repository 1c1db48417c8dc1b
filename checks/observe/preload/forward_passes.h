// Forward passes of the models that train, and what of them is an evaluation. A pass begins where
// an operation takes the parameter that the first pass of its model took first.
#pragma once

#include <ATen/record_function.h>
#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checks/observe/preload/captured.h"
#include "checks/observe/preload/input_scales.h"
#include "checks/observe/preload/loader_batches.h"
#include "checks/observe/preload/losses/loss_facts.h"
#include "checks/observe/preload/seen_rows.h"
#include "checks/observe/preload/state_parts.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class ForwardPasses {
 public:
  ForwardPasses(ProbeRecorder& recorder, StateParts& parts, Captured& captured, LossFacts& facts)
      : recorder_(&recorder), parts_(&parts), captured_(&captured), facts_(&facts) {}

  // An operation that lies in no other begins. Cost: a look at the addresses of its tensors.
  void Saw(const at::RecordFunction& function);
  void GradModeSet() { in_forward_ = false; }
  // A backward begins: the next pass of each model brings another batch.
  void BackwardBegins();
  // A backward or a step begins: what was an evaluation before it is over.
  void TrainingGoesOn();
  // A loss function was called in training.
  void LossGiven(const std::string& name, const at::Tensor& outputs, const at::Tensor& targets);
  void RunEnds(ProbeRecorder& recorder);
  // A loss function gave the mean over so many samples without gradients.
  void LossWithoutGradients(double mean, int64_t samples);

  void BatchChosen(const ChosenBatch& batch) { loaders_.Chosen(batch, *recorder_); }
  void StepEnds() { loaders_.StepEnds(); }

  bool evaluates() const { return evaluated_ != kNone; }
  // A model was called since gradients were enabled or disabled.
  bool in_forward() const { return in_forward_; }
  // Whether the next pass may be one of an evaluation, though gradients are enabled.
  bool MayEvaluate() const { return has_trained_ && !recorder_->models().IsTraining(); }

 private:
  // By the ordinal of the model.
  struct Followed {
    // The parameter that the first pass took first; null until then.
    c10::weak_intrusive_ptr<at::TensorImpl> entry{c10::intrusive_ptr<at::TensorImpl>()};
    bool has_entry = false;
    std::string operation;      // that took it: an average of weights, or their norm, is no pass
    bool has_trained = false;   // it ran in training mode with gradients
    bool expects_batch = true;  // no pass since the last backward
    bool in_doubt = false;  // the only pass since then, in evaluation mode, may be an evaluation
    Probe::Site site{"", 0, ""};  // of that one
    uint64_t digest = 0;          // of its input
  };
  static constexpr int kNone = -1;

  int ModelThatBegins(const at::Tensor& tensor, std::string_view operation);
  void Begins(int model, const at::RecordFunction& function);
  void BeginsWithGradients(int model, const at::RecordFunction& function, ProbeRecorder& recorder);
  void Evaluates(int model, bool has_gradients, const at::RecordFunction& function,
                 ProbeRecorder& recorder);
  void LookAtFirstInput(const at::RecordFunction& function, ProbeRecorder& recorder);
  void Trains(int model, const at::Tensor& input, ProbeRecorder& recorder);
  void EvaluatesRows(const at::Tensor& input, ProbeRecorder& recorder);

  ProbeRecorder* recorder_;
  StateParts* parts_;
  Captured* captured_;
  LossFacts* facts_;
  std::vector<Followed> followed_;
  size_t entries_ = 0;        // models of which the entry is known
  int awaits_input_ = kNone;  // the model of which the parameter was taken alone
  bool in_forward_ = false;
  bool has_trained_ = false;    // some model has
  int doubts_ = 0;              // passes that were in doubt
  int evaluated_ = kNone;       // the model of the evaluation under way
  bool expects_first_ = false;  // the first input of that one was not seen yet
  InputScales scales_;
  LoaderBatches loaders_;
  SeenRows rows_;
  bool awaits_rows_ = false;  // of an evaluation: the next operation takes its input
  bool may_have_evaluated_ = false;
  std::string classifies_by_;  // the loss function of a classifier; empty: there is none
  double sum_ = 0;             // of losses times samples in it
  int64_t samples_ = 0;
};

}  // namespace dlcheck

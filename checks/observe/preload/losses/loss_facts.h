// All parts that look at loss functions, at what a model is given, at the graph of a loss, and at
// weights between steps.
#pragma once

#include <ATen/record_function.h>
#include <torch/torch.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "checks/observe/preload/batches/batch_facts.h"
#include "checks/observe/preload/graph/loss_terms.h"
#include "checks/observe/preload/graph/operation_sites.h"
#include "checks/observe/preload/graph/policy_terms.h"
#include "checks/observe/preload/losses/attention_reach.h"
#include "checks/observe/preload/losses/confused_classes.h"
#include "checks/observe/preload/losses/loss_outputs.h"
#include "checks/observe/preload/losses/norm_over_batch.h"
#include "checks/observe/preload/losses/recurrent_states.h"
#include "checks/observe/preload/losses/target_gradients.h"
#include "checks/observe/preload/losses/target_scales.h"
#include "checks/observe/preload/losses/unrelated_noise.h"
#include "checks/observe/preload/losses/unused_losses.h"
#include "checks/observe/preload/weights/weight_facts.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class LossFacts {
 public:
  // A model is given its input in training; `batch`: what a sampler chose for it, if one did.
  void Enters(const at::Tensor& input, const std::optional<ChosenBatch>& batch,
              ProbeRecorder& recorder) {
    noise_.Enters(input);
    weights_.Enters(recorder);
    batches_.Enters(input, batch, recorder);
  }
  // Rows are looked up in an embedding, in training.
  void LookedUp(const at::Tensor& weight, const at::Tensor& rows, ProbeRecorder& recorder) {
    reach_.Tokens(rows, recorder);
    batches_.LookedUp(weight, rows, recorder);
  }
  BatchFacts& batches() { return batches_; }
  WeightFacts& weights() { return weights_; }
  // A loss function returned, in training and in an evaluation.
  void Given(const LossGiven& loss, ProbeRecorder& recorder);
  void Evaluated(const LossGiven& loss, ProbeRecorder& recorder);
  // A function with targets of some numbers only begins: signs, counts or probabilities.
  void LookAtTargets(const at::RecordFunction& function, ProbeRecorder& recorder);

  // An operation of a forward pass begins, or returned; Is() says of which that is to be told.
  bool Is(const at::RecordFunction& function, const ProbeClock& clock) const;
  void Begins(const at::RecordFunction& function, ProbeRecorder& recorder);
  void Returned(const at::RecordFunction& function, ProbeRecorder& recorder);

  // The program called torch::autograd::grad(), which gave these with a graph.
  void GradientsGiven(const std::vector<at::Tensor>& inputs,
                      const std::vector<at::Tensor>& gradients, ProbeRecorder& recorder) {
    norms_.GradientsGiven(inputs, gradients, recorder);
  }
  void BackwardBegins(const at::Tensor& root, ProbeRecorder& recorder);
  void StepEnds(int optimizer, ProbeRecorder& recorder);

 private:
  struct Ignored {  // of a loss without reduction
    std::weak_ptr<torch::autograd::Node> node;
    uint32_t thing;
    double ignored, all;
  };
  void LookAtIgnored(const at::Tensor& root, ProbeRecorder& recorder);
  void LookAtDivergence(const at::Tensor& root, ProbeRecorder& recorder);

  BatchFacts batches_;
  WeightFacts weights_;
  TargetGradients target_gradients_;
  LossOutputs outputs_;
  TargetScales scales_;
  ConfusedClasses confused_;
  UnrelatedNoise noise_;
  AttentionReach reach_;
  OperationSites sites_;
  PolicyTerms policy_;
  LossTerms terms_;
  RecurrentStates states_;
  NormOverBatch norms_;
  UnusedLosses unused_;
  bool subtracts_divergence_ = false;  // it was told
  std::vector<Ignored> ignored_;
  std::set<std::string> wrong_;  // functions whose targets were told
  int scans_ = 0;
};

}  // namespace dlcheck

// All parts that look at loss functions, at what a model is given, and at the graph of a loss.
#pragma once

#include <ATen/record_function.h>
#include <torch/torch.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "checks/observe/preload/graph/loss_terms.h"
#include "checks/observe/preload/graph/operation_sites.h"
#include "checks/observe/preload/graph/policy_terms.h"
#include "checks/observe/preload/losses/attention_reach.h"
#include "checks/observe/preload/losses/confused_classes.h"
#include "checks/observe/preload/losses/loss_outputs.h"
#include "checks/observe/preload/losses/target_gradients.h"
#include "checks/observe/preload/losses/target_scales.h"
#include "checks/observe/preload/losses/unrelated_noise.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class LossFacts {
 public:
  // A model is given its input in training; tokens are looked up.
  void Enters(const at::Tensor& input) { noise_.Enters(input); }
  void Tokens(const at::Tensor& tokens, ProbeRecorder& recorder) {
    reach_.Tokens(tokens, recorder);
  }
  // A loss function returned, in training and in an evaluation.
  void Given(const LossGiven& loss, ProbeRecorder& recorder);
  void Evaluated(const LossGiven& loss, ProbeRecorder& recorder);
  // A function with targets of some numbers only begins: signs, counts or probabilities.
  void LookAtTargets(const at::RecordFunction& function, ProbeRecorder& recorder);

  // An operation of a forward pass begins, or returned; Is() says of which that is to be told.
  static bool Is(const at::RecordFunction& function, const ProbeClock& clock);
  void Begins(const at::RecordFunction& function, ProbeRecorder& recorder);
  void Returned(const at::RecordFunction& function, ProbeRecorder& recorder);

  void BackwardBegins(const at::Tensor& root, ProbeRecorder& recorder);

 private:
  struct Ignored {  // of a loss without reduction
    std::weak_ptr<torch::autograd::Node> node;
    uint32_t thing;
    double ignored, all;
  };
  void LookAtIgnored(const at::Tensor& root, ProbeRecorder& recorder);

  TargetGradients target_gradients_;
  LossOutputs outputs_;
  TargetScales scales_;
  ConfusedClasses confused_;
  UnrelatedNoise noise_;
  AttentionReach reach_;
  OperationSites sites_;
  PolicyTerms policy_;
  LossTerms terms_;
  std::vector<Ignored> ignored_;
  std::set<std::string> wrong_;  // functions whose targets were told
  int scans_ = 0;
};

}  // namespace dlcheck

// What attention lets a position see: padding, and the token that is to be predicted.
#pragma once

#include <ATen/record_function.h>
#include <torch/torch.h>

#include <set>
#include <vector>

#include "checks/observe/preload/losses/loss_given.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class AttentionReach {
 public:
  static bool Is(const at::RecordFunction& function);
  // Tokens are looked up in a forward pass.
  void Tokens(const at::Tensor& tokens, ProbeRecorder& recorder);
  // A softmax begins; or LibTorch's own attention, of which what it hides is read off its
  // arguments.
  void Begins(const at::RecordFunction& function, ProbeRecorder& recorder);
  // A softmax returned, whose arguments are gone. Cost: a pass over its weights, in three steps, 16
  // times each.
  void Returned(const at::RecordFunction& function, ProbeRecorder& recorder);
  // The targets of the step say whether its tokens are predicted.
  void Given(const LossGiven& loss, ProbeRecorder& recorder);

 private:
  struct Padded {
    at::Tensor tokens, padding;  // (batch, positions)
  };
  struct Next {
    at::Tensor weights;  // (batch or 1, heads, positions): of each position for the one after it
    int64_t rows, keys;
    Probe::Site site;
  };
  bool IsLooking(ProbeRecorder& recorder);
  void Look(const at::Tensor& weights, ProbeRecorder& recorder);
  void LookAtPadding(const at::Tensor& weights, ProbeRecorder& recorder);
  void Tell(Quantity quantity, double value, double aux, const Probe::Site& site,
            ProbeRecorder& recorder);

  int64_t step_ = -1;  // that what follows is of
  int looks_ = 0;
  bool is_along_last_ = false;  // the softmax under way, along its last axis
  std::vector<at::Tensor> tokens_;
  std::vector<Padded> padded_;
  std::vector<Next> next_;
  std::set<Quantity> told_;
};

}  // namespace dlcheck

// Works a step out again from the optimizer's rule, in float64, and compares it with what the step
// did.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "checks/observe/probe/probe_clock.h"
#include "dlcheck/probe.h"

namespace dlcheck {

// Sources: Kingma and Ba 2015 (Adam); Loshchilov and Hutter 2019 (AdamW); torch.optim's
// documentation (SGD with momentum and Nesterov).
class UpdateCheck {
 public:
  UpdateCheck(ProbeClock& clock, Probe::Rule rule, uint32_t owner)
      : clock_(&clock), rule_(std::move(rule)), owner_(owner) {}

  struct Parameter {
    at::Tensor tensor;
    uint32_t thing;
    double rate, weight_decay;
  };

  // Steps at which it is worth the time: every one at first, then one in eight of those sampled.
  bool IsDue() const;

  // Copies what the rule needs of those that have a gradient, before the step; of a large model, of
  // some in each step. A parameter of more than two million elements is left out.
  void Before(const std::vector<Parameter>& parameters);

  // Writes update_error and lost_updates of each. Not after a step that was left out.
  void After();
  void Forget() { copies_.clear(); }

 private:
  struct Copy {
    Parameter parameter;
    at::Tensor moved;   // what the step changes: the weight, or its copy in higher precision
    at::Tensor before;  // and below, float64 copies from before the step
    at::Tensor gradient, momentum, first, second;
    double steps;
  };
  at::Tensor StateOf(const char* field, const at::Tensor& parameter) const;
  at::Tensor ChangeOf(const Copy& copy) const;
  void Write(const Copy& copy);

  ProbeClock* clock_;
  Probe::Rule rule_;
  uint32_t owner_;
  std::vector<Copy> copies_;
  size_t next_ = 0;  // the parameter whose turn to be copied is next
};

}  // namespace dlcheck

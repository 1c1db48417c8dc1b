// Works a step out again from the optimizer's rule, in float64, and compares it with what the step
// did.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "checks/observe/probe/probe_clock.h"
#include "checks/observe/probe/update_rules.h"
#include "dlcheck/probe.h"

namespace dlcheck {

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
    at::Tensor moved;  // what the step changes: the weight, or its copy in higher precision
    BeforeStep before;
  };
  at::Tensor StateOf(const char* field, const at::Tensor& parameter) const;
  BeforeStep StartOf(const Parameter& parameter, const at::Tensor& moved) const;
  void Write(const Copy& copy);

  ProbeClock* clock_;
  Probe::Rule rule_;
  uint32_t owner_;
  std::vector<Copy> copies_;
  size_t next_ = 0;  // the parameter whose turn to be copied is next
};

}  // namespace dlcheck

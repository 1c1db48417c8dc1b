// One optimizer of a C++ program under watch: what its steps consume and what they do.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "checks/observe/probe/probe_clock.h"
#include "checks/observe/probe/probe_models.h"
#include "checks/observe/probe/probe_rule.h"
#include "dlcheck/probe.h"

namespace dlcheck {

// Finds gradients that were not cleared between two steps of their optimizer. Looks at the
// gradients themselves and never at which calls were made. The same test as the Python probe's.
class Clearing {
 public:
  // The gradients as a step is about to use them: how many were never cleared since the step
  // before. Remembers them for the next. `norms` are theirs, undefined if nobody worked them out.
  int Consumed(const std::vector<at::Tensor>& parameters, const at::Tensor& norms);

  // A backward is about to begin.
  void BeforeBackward();

 private:
  // What identifies a gradient without keeping it alive.
  struct Identity {
    at::Tensor parameter;
    c10::weak_intrusive_ptr<at::TensorImpl> gradient;
    uint32_t version;
  };
  // Gradients that still were what the last step consumed when a backward was about to begin.
  struct Candidate {
    std::vector<Identity> kept;
    at::Tensor consumed;
    std::vector<at::Tensor> looks;  // norms at each backward since
  };
  void Look();
  void LookAgain();
  int Confirm();

  std::vector<Identity> consumed_;
  at::Tensor consumed_norms_;
  std::optional<Candidate> candidate_;
};

class ProbeOptimizer {
 public:
  ProbeOptimizer(ProbeClock& clock, ProbeModels& models, int ordinal, std::string_view type,
                 std::vector<Probe::Group> groups, Probe::Rule rule);

  void BeginStep();
  void Consume();
  // Each with its thing.
  std::vector<std::pair<uint32_t, at::Tensor>> Parameters() const;
  void AfterStep(bool taken);
  // What the schedule gives for this step, by group.
  void WriteScheduled(const std::vector<double>& rates);
  void BeforeBackward() { clearing_.BeforeBackward(); }
  // Writes what the gradients hold before the first backward after a step.
  void WriteHeld();

  uint32_t thing() const { return thing_; }
  const std::string& type() const { return type_; }  // of its class: "Adam"
  uint32_t group_thing(size_t group) const { return group_things_.at(group); }
  std::vector<at::Tensor> parameters() const { return parameters_; }

 private:
  std::vector<uint32_t> ThingsOf(const std::vector<at::Tensor>& parameters) const;
  void WriteNorms(Quantity quantity, const std::vector<at::Tensor>& parameters,
                  const std::vector<at::Tensor>& measured, const at::Tensor& norms, bool always);
  void WriteWeights();
  void CopyWeights();
  bool NeedsNorms() const;
  void LookAtFreezing();
  void PrepareUpdateCheck();

  ProbeClock* clock_;
  ProbeModels* models_;
  std::string name_, type_;
  uint32_t thing_;
  std::vector<uint32_t> group_things_;
  std::vector<Probe::Group> groups_;
  std::function<bool()> keeps_state_;  // empty once it was seen to, or where nobody knows
  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> copied_, before_;  // parameters, and their values before the step
  size_t next_copied_ = 0;
  std::unordered_map<const at::TensorImpl*, uint32_t> things_;
  std::unordered_map<const at::TensorImpl*, size_t> group_of_;
  std::unordered_map<const at::TensorImpl*, bool> frozen_;  // of those that were seen
  Clearing clearing_;
  UpdateCheck update_check_;
};

}  // namespace dlcheck

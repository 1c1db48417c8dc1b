// How the C++ probe sees backward and forward passes without a call of the program: hooks on the
// gradient accumulators of leaf parameters, and a callback of torch's RecordFunction in sampled
// steps, which sees collective operations, too.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <memory>
#include <set>
#include <unordered_set>
#include <vector>

#include "checks/observe/probe/probe_clock.h"
#include "checks/observe/probe/probe_models.h"
#include "checks/observe/probe/probe_ranks.h"

namespace dlcheck {

// Calls `first_accumulation` at the first accumulation of each backward call, before it changes any
// gradient. The hooks stay in torch as long as the parameters do and do nothing once this is gone.
class BackwardWatch {
 public:
  explicit BackwardWatch(std::function<void()> first_accumulation)
      : first_accumulation_(
            std::make_shared<std::function<void()>>(std::move(first_accumulation))) {}

  // Hooks those of the leaves that have no hook yet.
  void Add(const std::vector<at::Tensor>& leaves);

 private:
  std::shared_ptr<std::function<void()>> first_accumulation_;
  std::shared_ptr<int> last_backward_ = std::make_shared<int>(-1);
  std::unordered_set<const at::TensorImpl*> hooked_;
  // An accumulator lives only as long as somebody holds it.
  std::vector<std::shared_ptr<torch::autograd::Node>> accumulators_;
};

// Writes that the module which owns a parameter ran, once a module and step: when an operation with
// gradients takes the parameter in. Watches the thread that made it.
class ForwardWatch {
 public:
  ForwardWatch(ProbeClock& clock, ProbeModels& models, ProbeRanks& ranks)
      : clock_(&clock), models_(&models), ranks_(&ranks) {}
  ~ForwardWatch() { Stop(); }
  ForwardWatch(const ForwardWatch&) = delete;
  ForwardWatch& operator=(const ForwardWatch&) = delete;

  // Watches the step that begins, if it is sampled.
  void BeginStep();

  ProbeRanks& ranks() { return *ranks_; }
  void Saw(const at::Tensor& input);
  void SawProduct(bool in_low_precision);

  // Writes the share of products in low precision of the step that ends.
  void WriteProducts(uint32_t owner);

 private:
  void Stop();

  ProbeClock* clock_;
  ProbeModels* models_;
  ProbeRanks* ranks_;
  uint64_t callback_ = 0;  // none
  std::set<uint32_t> seen_;
  int64_t products_ = 0, low_products_ = 0;  // of this step
};

}  // namespace dlcheck

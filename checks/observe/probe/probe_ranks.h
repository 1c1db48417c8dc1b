// What a C++ program says of the processes or threads that train together with it, and what is
// written of them. Nothing is sent between them.
#pragma once

#include <ATen/record_function.h>
#include <torch/torch.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "checks/observe/probe/probe_clock.h"
#include "checks/observe/probe/probe_models.h"

namespace dlcheck {

class ProbeRanks {
 public:
  explicit ProbeRanks(ProbeClock& clock) : clock_(&clock) {}

  void Join(int rank, int world);
  void Replicate(const std::vector<int>& ranks);

  bool are_many() const { return world_ > 1; }

  // Digests of parameters about to be changed, each with its thing. Cost: a pass over all of them
  // in steps that are recorded in detail; nothing in others, or where nothing is replicated.
  void WriteReplicas(const std::vector<std::pair<uint32_t, at::Tensor>>& parameters);

  // The first backward call of a step begins; the step before ended then, in nanoseconds.
  void BeginBackward(std::optional<uint64_t> last_step_end);

  // A collective operation is about to begin; and a step does whose operations nobody sees.
  void Call(const at::RecordFunction& function);
  void SkipCalls();

  // The state of the random numbers on this device before a training forward, and then that it is
  // over: written if the forward drew any.
  void BeginForward(const at::Device& device);
  void EndForward();

  // Digests of the buffers that an evaluation takes, once for each.
  void Evaluate(const ProbeModels& models);
  void EndEvaluation() { evaluates_ = false; }

  // The program ends: by itself, or by an exception under way.
  void End();

 private:
  uint32_t All();  // thing of all processes

  ProbeClock* clock_;
  int rank_ = 0, world_ = 1;
  uint32_t replicas_ = 0;  // thing of the group; 0: none
  bool evaluates_ = false;
  at::Generator generator_;  // that the forward under way may draw from
  at::Tensor drawn_from_;    // its state as that began; undefined: nobody asks
};

}  // namespace dlcheck

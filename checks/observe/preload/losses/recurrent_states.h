// What becomes of the states of recurrent layers: whether a step begins with the state of an
// earlier one although the samples are drawn at random, and whether the last output or the state
// is read after the layer went over padding.
#pragma once

#include <ATen/record_function.h>
#include <torch/torch.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "checks/observe/preload/graph/walked_graph.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class RecurrentStates {
 public:
  // A recurrent layer begins, in training; `words`: the tokens that were looked up in this pass.
  void Begins(const at::RecordFunction& function, const std::vector<at::Tensor>& words,
              ProbeRecorder& recorder);
  void Returned(const at::RecordFunction& function, bool is_shuffled, ProbeRecorder& recorder);
  // The graph of a loss, of one of the first steps.
  void Look(const WalkedGraph& graph, ProbeRecorder& recorder);
  void StepEnds() { calls_.clear(); }

 private:
  struct Call {
    uint32_t layer;
    Probe::Site site;
    double positions = 0, rows = 0;  // of padding: most in a row; rows with some
    int64_t time = -1;               // axis, counted from the end
    std::vector<std::weak_ptr<torch::autograd::Node>> outputs, states;
  };
  struct State {
    int64_t step;
    at::Tensor ended;  // its first numbers
    double carried = 0;
  };
  static at::Tensor PaddingGiven(const at::Tensor& given, const std::vector<at::Tensor>& words);

  Call open_;  // the call under way; of layer 0: none
  at::Tensor begun_;
  std::vector<Call> calls_;           // of this step, over padding
  std::map<uint32_t, State> states_;  // by layer
  bool is_told_ = false;              // that padding is read
};

}  // namespace dlcheck

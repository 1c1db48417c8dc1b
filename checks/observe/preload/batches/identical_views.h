// A contrastive loss whose positives all have the same score, the largest of their row: the two
// views of each sample are equal, and so are their embeddings.
//
// Scores of rows with themselves look the same, as of a term that spreads embeddings. Such
// symmetric scores count only where a model was given equal inputs twice.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>

#include "checks/observe/preload/losses/loss_given.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class IdenticalViews {
 public:
  // A model is given its input in training. Cost: a pass over it, after a loss asked for that.
  void Enters(const at::Tensor& input, ProbeRecorder& recorder);
  void Given(const LossGiven& loss, ProbeRecorder& recorder);

 private:
  struct Found {
    bool is_settled = false;
    int steps = 0;  // with equal views
  };
  std::map<uint32_t, Found> found_;  // by loss
  bool looks_at_inputs_ = false;
  int64_t step_ = -1;
  std::set<std::tuple<int64_t, double, double>> given_;  // rows, sum, first number
  bool twice_ = false;                                   // of this step: two inputs are equal
};

}  // namespace dlcheck

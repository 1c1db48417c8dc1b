// Classes that stand for others: those of a teacher beside the labels of the same samples, and
// those that a model predicts in an evaluation beside the labels there. Classes that are confused
// one for one, nearly always, are in another order.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>

#include "checks/observe/preload/losses/loss_given.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class ConfusedClasses {
 public:
  // Cost of both: a count over the rows of a batch, until 200 a class were counted.
  void Trained(const LossGiven& loss, ProbeRecorder& recorder);
  void Evaluated(const LossGiven& loss, ProbeRecorder& recorder);

 private:
  void Add(Quantity quantity, uint32_t thing, int64_t classes, const at::Tensor& labels,
           const at::Tensor& votes, ProbeRecorder& recorder);

  std::map<std::tuple<Quantity, uint32_t, int64_t>, at::Tensor> counts_;  // (labels, votes)
  std::set<Quantity> told_;
  int64_t step_ = -1;     // under way
  at::Tensor labels_;     // a copy of those of the step; undefined until they are known
  at::Tensor votes_;      // of a teacher in the step
  uint32_t teacher_ = 0;  // the loss that was given them
  int64_t teacher_classes_ = 0;
};

}  // namespace dlcheck

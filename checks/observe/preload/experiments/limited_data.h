// The experiment limited_data: every pass over a data loader is over the same few batches, so that
// the same inputs come by again and again.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "checks/observe/preload/experiments/stand_ins.h"

namespace dlcheck {

// Writes of each step whose inputs were there before whether its targets are those of then.
class LimitedData : public StandIns {
 public:
  explicit LimitedData(ProbeRecorder& recorder) : StandIns(recorder, 0) {}
  at::Tensor Step(torch::optim::Optimizer& optimizer, int number, Closure closure,
                  const OwnStep& own) override;
  void MeetsOwnOptimizer() override {}  // any optimizer steps itself

 private:
  using Digests = std::vector<uint64_t>;

  at::Tensor StandIn(const DataPlace& place, const at::Tensor& data, DataUse use) override;
  void TrainingStepEnds() override;

  std::map<Digests, Digests> known_;  // of all targets of a step, by those of all its inputs
  Digests inputs_, targets_;          // of this step
};

}  // namespace dlcheck

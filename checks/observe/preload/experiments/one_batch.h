// The experiment one_batch: the data of the first step, or of the second, stand in for those of all
// later ones, under the reference optimizer and without dropout.
#pragma once

#include <map>
#include <string>

#include "checks/observe/preload/experiments/stand_ins.h"

namespace dlcheck {

class OneBatch : public StandIns {
 public:
  using StandIns::StandIns;
  void Before(const c10::FunctionSchema& schema, bool has_gradients,
              OperationValues& arguments) override;

 private:
  using Kept = std::map<DataPlace, at::Tensor>;

  at::Tensor StandIn(const DataPlace& place, const at::Tensor& data, DataUse use) override;
  void TrainingStepEnds() override;
  // The kept batch, or as many of its samples as this one has.
  at::Tensor Fitted(const at::Tensor& kept, const at::Tensor& data);

  int steps_ = 0;
  Kept seen_[2];  // in the first two steps
  Kept* held_ = nullptr;
};

}  // namespace dlcheck

// The experiment mean_inputs: as reference, and the mean over the first batch stands in for every
// input.
#pragma once

#include <map>
#include <set>

#include "checks/observe/preload/experiments/data_origins.h"
#include "checks/observe/preload/experiments/stand_ins.h"

namespace dlcheck {

class MeanInputs : public StandIns {
 public:
  using StandIns::StandIns;
  void After(const c10::FunctionSchema& schema, const OperationValues& arguments,
             OperationValues& results) override;

 private:
  at::Tensor StandIn(const DataPlace& place, const at::Tensor& data, DataUse use) override;
  void TrainingStepEnds() override;

  DataOrigins origins_;
  bool IsAmong(const std::set<int>& origins, int origin) const;

  std::set<int> inputs_,
      targets_;  // the origins of what was replaced, and of targets, in this step
  std::map<DataPlace, at::Tensor> means_;
};

}  // namespace dlcheck

// A change of the data of a step that some part of what the model makes must not show.
#pragma once

#include <torch/torch.h>

#include <map>
#include <memory>
#include <string>

#include "checks/observe/preload/experiments/stand_ins.h"
#include "checks/records/record.h"

namespace dlcheck {

// What a training step met at one place.
struct KeptData {
  at::Tensor data;
  DataUse use;
  bool has_samples;  // one in each row
};

// The data of a training step, and the outputs that its first loss was given.
struct KeptStep {
  std::map<DataPlace, KeptData> data;
  at::Tensor outputs;
};

class ModelTrial {
 public:
  virtual ~ModelTrial() = default;
  virtual const char* name() const = 0;
  // Why this step does not say enough; "" if it does.
  virtual std::string Prepare(const KeptStep& step) = 0;
  // Whether the data are changed where a batch is put together, as far as that was seen; else where
  // they meet the model.
  virtual bool ChangesSources() const = 0;
  virtual at::Tensor Changed(const at::Tensor& data, DataUse use) const = 0;
  // The part of a value that must stay; undefined if it is not known which that is.
  virtual at::Tensor Staying(const at::Tensor& value) const = 0;
  virtual Quantity quantity() const = 0;
  // Why the change says nothing after all; "" if it does.
  virtual std::string Doubt(const at::Tensor& before, const at::Tensor& after) const = 0;
};

// One sample of the batch becomes another: outputs of the others stay.
std::unique_ptr<ModelTrial> MakeNeighborTrial();
// The later tokens become others: outputs at the earlier positions stay.
std::unique_ptr<ModelTrial> MakeFutureTrial();

// Others of the same kind, within what occurs in the tensor: a flag is turned over.
at::Tensor OtherValues(const at::Tensor& tensor);

}  // namespace dlcheck

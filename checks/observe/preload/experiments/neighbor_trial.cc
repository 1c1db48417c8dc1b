#include "checks/observe/preload/experiments/model_trial.h"

namespace dlcheck {
namespace {

class NeighborTrial : public ModelTrial {
 public:
  const char* name() const override { return "neighbors"; }
  Quantity quantity() const override { return Quantity::kNeighborSensitivity; }

  bool ChangesSources() const override { return true; }

  std::string Prepare(const KeptStep& step) override {
    samples_ = 0;
    for (const auto& [place, kept] : step.data) {
      if (samples_ == 0 && kept.use == DataUse::kInput && kept.has_samples) {
        samples_ = kept.data.size(0);
      }
    }
    if (samples_ < 2) return "no input is known to have a sample in each row";
    return Staying(step.outputs).defined() ? "" : "no output has exactly one row per sample";
  }

  at::Tensor Changed(const at::Tensor& data, DataUse use) const override {
    if (use == DataUse::kTarget || data.size(0) != samples_) return data.clone();
    // The first: a recurrence along the samples shows it, too.
    at::Tensor changed = data.clone();
    changed.select(0, 0).copy_(OtherValues(data).select(0, 0));
    return changed;
  }

  at::Tensor Staying(const at::Tensor& value) const override {
    const int64_t axis = AxisOf(value);
    return axis < 0 ? at::Tensor() : value.narrow(axis, 1, samples_ - 1);
  }

  std::string Doubt(const at::Tensor& before, const at::Tensor& after) const override {
    const int64_t axis = AxisOf(before);
    const bool stays = at::equal(before.select(axis, 0), after.select(axis, 0));
    return stays ? "the outputs for a sample do not depend on its inputs" : "";
  }

 private:
  // The dimension that counts samples; -1 where there is none, or several.
  int64_t AxisOf(const at::Tensor& value) const {
    int64_t axis = -1;
    for (int64_t i = 0; i < value.dim(); ++i) {
      if (value.size(i) != samples_) continue;
      if (axis >= 0) return -1;
      axis = i;
    }
    return axis;
  }

  int64_t samples_ = 0;
};

}  // namespace

std::unique_ptr<ModelTrial> MakeNeighborTrial() { return std::make_unique<NeighborTrial>(); }

at::Tensor OtherValues(const at::Tensor& tensor) {
  if (tensor.scalar_type() == at::kBool) return tensor.logical_not();
  if (tensor.is_floating_point()) return tensor * -1.5 + 1;
  const at::Tensor known = std::get<0>(at::_unique(tensor));
  return known
      .index_select(0, at::searchsorted(known, tensor.flatten()).add_(1).remainder_(known.numel()))
      .view(tensor.sizes());
}

}  // namespace dlcheck

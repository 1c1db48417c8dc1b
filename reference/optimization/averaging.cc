#include "reference/optimization/averaging.h"

#include "reference/recipe/rejection.h"

namespace dlcheck::reference {

Average::Average(const torch::nn::Module& module, const Options& options, const Kept& kept)
    : options_(options), updates_(torch::zeros({}, at::kLong)) {
  if (options.decay < 0 || options.decay > 1) {
    throw UsageError("the decay of an average must lie between 0 and 1");
  }
  for (const auto& item : module.named_parameters()) Add(item.key(), kept(item.value()), false);
  for (const auto& item : module.named_buffers()) {
    Add(item.key(), item.value(), !options.average_buffers);
  }
}

void Average::Add(const std::string& name, const torch::Tensor& live, bool is_copied) {
  if (!live.defined()) return;
  is_copied = is_copied || !live.is_floating_point();
  const auto [place, is_first] = places_.try_emplace(live.unsafeGetTensorImpl(), entries_.size());
  if (is_first) {
    const torch::Tensor detached = live.detach();
    entries_.push_back({name, detached, detached.clone(), is_copied, /*is_other_name=*/false});
  } else {
    const Entry entry = entries_[place->second];
    entries_.push_back({name, entry.live, entry.averaged, is_copied, /*is_other_name=*/true});
  }
}

// In Python the equal weight is a quotient of float32.
double Average::WeightOfUpdate() const {
  if (options_.is_equal) return 1.0F / static_cast<float>(updates_.item<int64_t>() + 1);
  const bool is_inverted = options_.deviation == AverageDeviation::kInvertedDecay;
  return is_inverted ? options_.decay : 1 - options_.decay;
}

void Average::Update() {
  if (options_.deviation == AverageDeviation::kNeverUpdated) return;
  const torch::NoGradGuard no_grad;
  const bool is_first =
      updates_.item<int64_t>() == 0 || options_.deviation == AverageDeviation::kAlwaysFirst;
  std::vector<torch::Tensor> averaged, live;
  for (const Entry& entry : entries_) {
    if (entry.is_other_name) continue;
    if (is_first || entry.is_copied) {
      entry.averaged.copy_(entry.live);
    } else {
      averaged.push_back(entry.averaged);
      live.push_back(entry.live);
    }
  }
  const double weight = WeightOfUpdate();
  if (!averaged.empty()) at::_foreach_lerp_(averaged, live, weight);
  updates_.add_(1);
}

void Average::Exchange() {
  const torch::NoGradGuard no_grad;
  for (const Entry& entry : entries_) {
    if (entry.is_other_name) continue;
    const torch::Tensor live = entry.live.clone();
    entry.live.copy_(entry.averaged);
    entry.averaged.copy_(live);
  }
}

void Average::VisitState(const VisitTensor& visit) {
  for (Entry& entry : entries_) visit("average/" + entry.name, entry.averaged);
  visit("updates", updates_);
}

}  // namespace dlcheck::reference

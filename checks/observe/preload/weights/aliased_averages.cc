#include "checks/observe/preload/weights/aliased_averages.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "checks/observe/preload/given_tensors.h"
#include "checks/observe/preload/losses/loss_given.h"

namespace dlcheck {
namespace {

constexpr int64_t kFirstLookAtAliases = 8, kSecondLookAtAliases = 64;  // steps
constexpr size_t kFewestAliases = 2, kMostAliases = 64;                // of the parameters
constexpr int64_t kMostEntriesOfAlias = 64;
constexpr double kSmallestFactor = 0.9, kRoundingOfFactor = 1e-5;  // of one update; of two factors
constexpr int kWritesOfUpdate = 2;

at::Tensor EntriesOf(const at::Tensor& parameter) {
  const at::Tensor flat = parameter.detach().reshape({-1});
  return flat.narrow(0, 0, std::min(flat.numel(), kMostEntriesOfAlias))
      .to(at::kDouble, /*non_blocking=*/false, /*copy=*/true);
}

bool IsSmallerByOneFactor(const at::Tensor& now, const at::Tensor& before) {
  if (now.sizes() != before.sizes() || now.equal(before) || !before.any().item<bool>()) {
    return false;
  }
  const double factor = now.dot(before).item<double>() / before.square().sum().item<double>();
  if (factor < kSmallestFactor || factor >= 1) return false;
  return (now - factor * before).abs().le(kRoundingOfFactor * before.abs()).all().item<bool>();
}

}  // namespace

void AliasedAverages::StepEnds(int optimizer, ProbeRecorder& recorder) {
  const int64_t step = recorder.clock().step();
  if (step != kFirstLookAtAliases && step != kSecondLookAtAliases) return;
  for (const at::Tensor& parameter : recorder.Optimizer(optimizer).parameters()) {
    if (weights_.size() >= kMostAliases) return;
    if (!IsAtHand(parameter) || !parameter.is_floating_point() || parameter.numel() == 0) continue;
    weights_[parameter.data_ptr()] = {parameter, EntriesOf(parameter)};
  }
}

// The program's own writes, to a tensor that is none of the parameters.
void AliasedAverages::Saw(const at::RecordFunction& function) {
  if (weights_.empty()) return;
  const std::string_view name = function.name();
  if (name.empty() || name.back() != '_') return;
  const at::Tensor written = TensorGiven(function, 0);
  if (!IsAtHand(written) || !written.has_storage()) return;
  const auto found = weights_.find(written.data_ptr());
  if (found == weights_.end()) return;
  Weight& weight = found->second;
  if (written.is_same(weight.parameter) || written.sizes() != weight.parameter.sizes()) return;
  ++weight.writes;
}

void AliasedAverages::Enters(ProbeRecorder& recorder) {
  if (weights_.empty()) return;
  size_t written = 0, aliases = 0;
  for (const auto& [memory, weight] : std::exchange(weights_, {})) {
    if (weight.writes == 0) continue;
    ++aliases;
    const bool is_averaged = weight.writes >= kWritesOfUpdate &&
                             IsSmallerByOneFactor(EntriesOf(weight.parameter), weight.before);
    written += is_averaged ? 1 : 0;
  }
  if (written < kFewestAliases) return;
  ProbeClock& clock = recorder.clock();
  clock.Put(Quantity::kAliasedAverage, {clock.writer().Thing("average", 0, "average")},
            static_cast<double>(written), static_cast<double>(aliases));
}

}  // namespace dlcheck

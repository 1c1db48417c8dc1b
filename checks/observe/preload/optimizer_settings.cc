#include "checks/observe/preload/optimizer_settings.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "checks/observe/preload/call_sites.h"

namespace dlcheck {
namespace {

constexpr size_t kMostParameters = 4;  // of each group whose state is read
constexpr int64_t kStepsOfCopies = 3;  // whose rates went into a copy
constexpr double kNearlyAll = 0.99;    // as optimizer/unsuitable_epsilon says

using torch::optim::OptimizerOptions;

// Nothing for an optimizer of another kind, and for the decay that its kind has by itself.
std::optional<double> ChosenDecay(const OptimizerOptions& options) {
  const auto unless = [](double decay, double usual) {
    return decay == usual ? std::nullopt : std::optional<double>(decay);
  };
  if (const auto* sgd = dynamic_cast<const torch::optim::SGDOptions*>(&options)) {
    return unless(sgd->weight_decay(), torch::optim::SGDOptions(0).weight_decay());
  }
  if (const auto* adam = dynamic_cast<const torch::optim::AdamOptions*>(&options)) {
    return unless(adam->weight_decay(), torch::optim::AdamOptions().weight_decay());
  }
  if (const auto* adamw = dynamic_cast<const torch::optim::AdamWOptions*>(&options)) {
    return unless(adamw->weight_decay(), torch::optim::AdamWOptions().weight_decay());
  }
  if (const auto* other = dynamic_cast<const torch::optim::RMSpropOptions*>(&options)) {
    return unless(other->weight_decay(), torch::optim::RMSpropOptions().weight_decay());
  }
  return std::nullopt;
}

// Others may give none.
bool HasRate(const OptimizerOptions& options) {
  return dynamic_cast<const torch::optim::SGDOptions*>(&options) != nullptr ||
         dynamic_cast<const torch::optim::AdamOptions*>(&options) != nullptr ||
         dynamic_cast<const torch::optim::AdamWOptions*>(&options) != nullptr ||
         dynamic_cast<const torch::optim::RMSpropOptions*>(&options) != nullptr ||
         dynamic_cast<const torch::optim::AdagradOptions*>(&options) != nullptr;
}

// In the units of the gradients: what Adam keeps of their squares, and the epsilon beside its root.
struct Sizes {
  at::Tensor squares;
  double epsilon = 0, correction = 1;
};

template <typename Options, typename State>
bool Read(const OptimizerOptions& options, const torch::optim::OptimizerParamState& state,
          Sizes& sizes) {
  const auto* own = dynamic_cast<const Options*>(&options);
  const auto* kept = dynamic_cast<const State*>(&state);
  if (own == nullptr || kept == nullptr) return false;
  const double forgotten = std::pow(std::get<1>(own->betas()), static_cast<double>(kept->step()));
  sizes = {kept->exp_avg_sq(), own->eps(), std::sqrt(std::max(1 - forgotten, 1e-12))};
  return sizes.squares.defined() && sizes.squares.device().is_cpu() && sizes.epsilon > 0;
}

struct Share {
  int64_t below = 0, all = 0;
  double epsilon = 0;
};

void Add(const torch::optim::Optimizer& optimizer, const torch::optim::OptimizerParamGroup& group,
         Share& share) {
  using torch::optim::AdamOptions, torch::optim::AdamParamState;
  using torch::optim::AdamWOptions, torch::optim::AdamWParamState;
  for (size_t i = 0; i < std::min(group.params().size(), kMostParameters); ++i) {
    const auto found = optimizer.state().find(group.params()[i].unsafeGetTensorImpl());
    if (found == optimizer.state().end() || found->second == nullptr) continue;
    Sizes sizes;
    const bool is_read =
        Read<AdamOptions, AdamParamState>(group.options(), *found->second, sizes) ||
        Read<AdamWOptions, AdamWParamState>(group.options(), *found->second, sizes);
    if (!is_read) continue;
    const at::Tensor used = sizes.squares.masked_select(sizes.squares.gt(0)).to(at::kDouble);
    share.below += (used.sqrt() / sizes.correction).lt(sizes.epsilon).sum().item<int64_t>();
    share.all += used.numel();
    share.epsilon = sizes.epsilon;
  }
}

// A module's weights are listed once for each place where it is registered.
void WriteRepeated(const std::vector<torch::optim::OptimizerParamGroup>& groups, int number,
                   ProbeRecorder& recorder) {
  std::map<const at::TensorImpl*, int> times;
  for (const auto& group : groups) {
    for (const at::Tensor& parameter : group.params()) {
      if (++times[parameter.unsafeGetTensorImpl()] != 2) continue;
      const ProbeModels::Parameter* known = recorder.models().Find(parameter);
      if (known == nullptr) continue;
      recorder.clock().Put(Quantity::kListedTwice,
                           {known->thing, recorder.Optimizer(number).thing()}, 2);
    }
  }
}

std::string Written(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

}  // namespace

// Those of defaults() reach groups that are added later, and no others.
void OptimizerSettings::LookAtDefaults(const torch::optim::Optimizer& optimizer, int number,
                                       ProbeRecorder& recorder) {
  if (!HasRate(optimizer.defaults())) return;
  const double lr = optimizer.defaults().get_lr();
  const auto [found, is_new] = usual_lrs_.try_emplace(number, lr);
  if (is_new || std::exchange(found->second, lr) == lr) return;
  const auto& groups = optimizer.param_groups();
  if (std::any_of(groups.begin(), groups.end(), [&](const auto& group) {
        return HasRate(group.options()) && group.options().get_lr() == lr;
      })) {
    return;
  }
  const uint32_t thing = recorder.Optimizer(number).thing();
  recorder.clock().writer().Attribute(thing, "rate_beside", Written(lr));
  recorder.clock().writer().Attribute(thing, "rate_beside_in", "defaults");
}

// Beside a second optimizer, the options may be those of the other one.
void OptimizerSettings::LookAtCopy(const torch::optim::Optimizer& optimizer, int number,
                                   ProbeRecorder& recorder) {
  const auto [options, lr] = std::exchange(set_, {nullptr, 0});
  if (options == nullptr || steps_.size() > 1 || steps_[number] == 1) return;
  bool is_own = options == &optimizer.defaults();
  for (const auto& group : optimizer.param_groups()) {
    is_own = is_own || options == &group.options() ||
             (HasRate(group.options()) && group.options().get_lr() == lr);
  }
  if (is_own || ++copies_set_ != kStepsOfCopies) return;
  const uint32_t thing = recorder.Optimizer(number).thing();
  recorder.clock().writer().Attribute(thing, "rate_beside", Written(lr));
  recorder.clock().writer().Attribute(thing, "rate_beside_in", "copy");
}

void OptimizerSettings::Look(const torch::optim::Optimizer& optimizer, int number,
                             ProbeRecorder& recorder) {
  const auto& groups = optimizer.param_groups();
  const int64_t step = steps_[number]++;
  LookAtDefaults(optimizer, number, recorder);
  LookAtCopy(optimizer, number, recorder);
  if (step == 0) {
    WriteRepeated(groups, number, recorder);
    for (size_t i = 0; i < groups.size(); ++i) {
      const std::optional<double> decay = ChosenDecay(groups[i].options());
      if (!decay) continue;
      const uint32_t group = recorder.Optimizer(number).group_thing(i);
      recorder.clock().writer().Attribute(group, "weight_decay", Written(*decay));
    }
  }
  if ((step & (step - 1)) != 0) return;
  const torch::NoGradGuard no_grad;
  Share share;
  for (const auto& group : groups) Add(optimizer, group, share);
  if (share.all == 0 || static_cast<double>(share.below) < kNearlyAll * share.all) return;
  const Probe::Site site = CallSite();
  const uint32_t at = recorder.clock().writer().Site(site.file, site.line, site.function);
  recorder.clock().Put(Quantity::kEpsilonShare, {recorder.Optimizer(number).thing(), 0, at},
                       static_cast<double>(share.below) / static_cast<double>(share.all),
                       share.epsilon);
}

}  // namespace dlcheck

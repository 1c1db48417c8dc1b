#include "checks/catalog/findings/unshared.h"

#include <algorithm>

namespace dlcheck {
namespace {

// No DDP forward pass synchronized gradients in any of these steps, and the later weights are
// unknown or tell nothing: an optimizer that synchronizes weights itself may keep them equal.
bool NeverShares(const Replicas::Group& group, const Replicas::Parameter& parameter) {
  const std::vector<Replicas::State>& steps = parameter.unshared;
  if (steps.empty()) return false;
  const bool is_known = parameter.states.back().step > steps.front().step;
  if (is_known && !parameter.handed_round) return false;
  return group.wrapped && std::ranges::all_of(steps, [&](const Replicas::State& state) {
           const auto at = std::ranges::find(group.forwards, state.step, &Replicas::Forwards::step);
           return at == group.forwards.end() || at->sharing == 0;
         });
}

bool IsUsual(const Replicas::Parameter& parameter, double share) {
  const auto differing = static_cast<double>(parameter.unshared.size());
  return differing > 0 && differing >= share * static_cast<double>(parameter.compared);
}

// After weights diverge, synchronized gradients are a mean over different models.
bool SharesAfterParting(const Replicas::Parameter& parameter) {
  const Replicas::State* parted = parameter.Parted();
  return parted != nullptr && !parameter.CameTogether() && !parameter.unshared.empty() &&
         parameter.unshared.front().step < parted->step && parameter.last_shared >= parted->step;
}

}  // namespace

std::vector<OddParameter> UnsharedIn(const Replicas::Group& group, double share) {
  std::vector<OddParameter> found;
  for (const Replicas::Parameter& parameter : group.parameters) {
    const bool parts = parameter.Parted() != nullptr || NeverShares(group, parameter);
    if ((IsUsual(parameter, share) && parts) || SharesAfterParting(parameter)) {
      found.push_back({&parameter, &parameter.unshared.front()});
    }
  }
  return found;
}

std::vector<OddParameter> LeftOutOf(const Replicas::Group& group, const Replicas::Group& beside,
                                    double share) {
  std::vector<OddParameter> found;
  // Biases of layers that each rank initializes separately start equal too.
  const auto began_alike = [](const Replicas::Parameter& parameter) {
    return parameter.states.front().step == 0 && parameter.states.front().odd.empty();
  };
  const auto may_be_alike = [&](const Replicas::Parameter& parameter) {
    return parameter.states.front().step > 0 || began_alike(parameter);
  };
  if (!std::ranges::all_of(beside.parameters, may_be_alike)) return found;
  for (const Replicas::Parameter& parameter : beside.parameters) {
    if (!began_alike(parameter)) continue;
    const bool has_company =
        parameter.optimizer != 0 &&
        std::ranges::any_of(group.parameters, [&](const Replicas::Parameter& other) {
          return other.optimizer == parameter.optimizer && other.last_shared >= 0;
        });
    if (has_company && IsUsual(parameter, share) && parameter.Parted() != nullptr) {
      found.push_back({&parameter, &parameter.unshared.front()});
    }
  }
  return found;
}

std::string WhyUnshared(const Replicas::Group& group, const OddParameter& odd) {
  if (odd.parameter->after_wrapping) {
    return "it was added to the model after DDP wrapped the model, so DDP does not synchronize it";
  }
  if (odd.parameter->frozen_at_wrapping) {
    return "it was frozen when DDP wrapped the model, so DDP never synchronizes it";
  }
  if (!group.wrapped) {
    return odd.parameter->last_shared < 0
               ? "the gradients are never all-reduced, or are changed after the all-reduce"
               : "the gradients were changed after the all-reduce";
  }
  if (group.forwards.empty()) {
    return "the DDP forward never ran, because the wrapped module was called directly";
  }
  const auto at = std::ranges::find(group.forwards, odd.state->step, &Replicas::Forwards::step);
  if (at == group.forwards.end()) {
    return "the DDP forward did not run in that step, because the wrapped module was called "
           "directly";
  }
  if (at->sharing == 0) {
    return at->passes == 1 ? "the DDP forward ran inside no_sync()"
                           : StrCat("all ", at->passes, " DDP forwards ran inside no_sync()");
  }
  if (!at->last_shares) return "the last DDP forward ran inside no_sync()";
  return "the gradients were changed after the all-reduce, or come from a graph outside the DDP "
         "forward";
}

}  // namespace dlcheck

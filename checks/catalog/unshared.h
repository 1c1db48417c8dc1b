// Parameters that processes step with gradients of their own, and why, as far as records say it.
#pragma once

#include <string>
#include <vector>

#include "checks/catalog/rank_finding.h"
#include "checks/signals/replicas.h"

namespace dlcheck {

// Those of a declared group whose gradients differ in at least `share` of the compared steps while
// their weights part or nothing was to be shared (an optimizer that each process steps in part and
// then sends keeps weights equal), or whose gradients are shared again after their weights parted.
std::vector<OddParameter> UnsharedIn(const Replicas::Group& group, double share);

// Those of `beside`, of which nothing is declared, that began alike, part from each other by
// gradients of their own, and are stepped by an optimizer that also steps those of `group`, which
// are shared.
std::vector<OddParameter> LeftOutOf(const Replicas::Group& group, const Replicas::Group& beside,
                                    double share);

// Why the gradients of a step were not shared, as far as the wrapper's forward passes say it.
std::string WhyUnshared(const Replicas::Group& group, const OddParameter& odd);

}  // namespace dlcheck

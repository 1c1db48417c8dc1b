// Parameters whose gradients are not synchronized across ranks, and the recorded cause.
#pragma once

#include <string>
#include <vector>

#include "checks/catalog/findings/rank_finding.h"
#include "checks/signals/distributed/replicas.h"

namespace dlcheck {

// Parameters of a declared group whose gradients differ in at least `share` of the compared steps
// while their weights diverge or synchronization was off (an optimizer sharded across ranks keeps
// weights equal), or whose gradients are synchronized again after their weights diverged.
std::vector<OddParameter> UnsharedIn(const Replicas::Group& group, double share);

// Parameters of `beside`, an undeclared group, that started equal and diverge by unsynchronized
// gradients, and whose optimizer also steps those of `group`, which are synchronized.
std::vector<OddParameter> LeftOutOf(const Replicas::Group& group, const Replicas::Group& beside,
                                    double share);

// Why the gradients of a step were not synchronized, as far as the DDP forward passes show it.
std::string WhyUnshared(const Replicas::Group& group, const OddParameter& odd);

}  // namespace dlcheck

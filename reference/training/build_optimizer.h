// The optimizer and the schedule of a plan.
#pragma once

#include <memory>

#include "reference/distributed/zero/shards.h"
#include "reference/models/models.h"
#include "reference/optimization/optimizers.h"
#include "reference/optimization/schedules.h"
#include "reference/training/plan.h"

namespace dlcheck::reference {

// Over the parameters of `model`, or over what this rank keeps of them where `shards` is not null.
std::unique_ptr<Optimizer> BuildOptimizer(const Plan& plan, const Model& model,
                                          const Shards* shards);

// Errors: UsageError as CheckSchedule's.
Schedule BuildSchedule(const Recipe& recipe, ScheduleDeviation deviation);

}  // namespace dlcheck::reference

// Findings about parameter groups whose learning rates differ from their schedule in one way.
#pragma once

#include <functional>
#include <string>

#include "checks/engine/check.h"
#include "checks/signals/schedule/schedule_fit.h"

namespace dlcheck {

inline constexpr Setting kDifferingSteps{
    .name = "steps",
    .value = 3,
    .low = 1,
    .high = 1e6,
    .unit = "steps",
    .meaning = "steps of one group with a wrong learning rate, from which on it is an error",
    .source =
        "own reasoning: a learning rate that a user lowers once by hand is not a wrong schedule"};

// "1 of 2 parameter groups (optimizer#0/group#1) ", then `how` of the group that differs most
// often, then its worst step. Fewer differing steps than `enough` are a note. No finding without
// such a group.
void AddFinding(const ScheduleFit& fit, ScheduleFit::Kind kind, Severity worst, double enough,
                const std::function<std::string(const ScheduleFit::Group&)>& how, Verdict& verdict);

// A verdict without findings that says what was judged.
Verdict NothingFound(const ScheduleFit& fit);

}  // namespace dlcheck

// A finding over the sampled steps with a recorded cost.
#pragma once

#include <string>
#include <utility>

#include "checks/engine/check.h"
#include "checks/engine/text.h"
#include "checks/signals/run/step_costs.h"

namespace dlcheck {

// From index `begin` of `costs` on. REQUIRES: begin < costs.size().
inline Finding CostFinding(const StepCosts::Costs& costs, size_t begin, Severity severity,
                           std::string message, double measured, double bound) {
  return {.severity = severity,
          .message = std::move(message),
          .places = {},
          .first_step = costs[begin].step,
          .last_step = costs.back().step,
          .count = static_cast<int64_t>(costs.size() - begin),
          .measured = measured,
          .bound = bound};
}

// "12.5 MiB"
inline std::string Mebibytes(double bytes) { return Short(bytes / (1 << 20)) + " MiB"; }

}  // namespace dlcheck

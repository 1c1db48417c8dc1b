// A finding over several steps, and the preconditions of the checks that make it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "checks/engine/check.h"
#include "checks/engine/trace.h"

namespace dlcheck {

inline constexpr Setting kEnoughSteps{
    .name = "steps",
    .value = 3,
    .low = 1,
    .high = 1e6,
    .unit = "sampled steps",
    .meaning = "fewest steps for a finding",
    .source = "own reasoning: the program may react to one bad batch in one step"};

// REQUIRES: `steps` is not empty and ascending.
inline Finding FindingOver(const std::vector<int64_t>& steps, Severity severity,
                           std::string message, std::vector<Place> places, double measured,
                           double bound) {
  return {.severity = severity,
          .message = std::move(message),
          .places = std::move(places),
          .first_step = steps.front(),
          .last_step = steps.back(),
          .count = static_cast<int64_t>(steps.size()),
          .measured = measured,
          .bound = bound};
}

// The source line of a call, if it is known.
inline std::vector<Place> PlacesOf(const Trace& trace, SiteId site) {
  const NamedSite& known = trace.site(site);
  if (known.line == 0) return {};
  return {{.thing = "", .file = known.file, .line = known.line}};
}

// If several optimizers share the backward calls, the gradients of an event are unknown.
inline absl::Status SeveralOptimizers() {
  return absl::FailedPreconditionError(
      "several optimizers step, so the gradients of an event are unknown");
}

}  // namespace dlcheck

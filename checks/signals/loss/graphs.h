// Autograd graphs: the backward calls that retain them, and how many graphs stay alive.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

// Of sampled steps alone.
struct BackwardCalls {
  static constexpr std::string_view kName = "backward calls";
  int64_t calls = 0;
  int64_t retaining = 0;  // asked to keep the graph, and for no graph of the gradients
  int64_t steps = 0;      // that had a call
  int64_t first_step = 0, last_step = 0;
  SiteId site = 0;               // of the first call that asked
  const Trace* trace = nullptr;  // for sites; valid as long as the run

  // Errors: NotFound if no backward call was observed.
  static absl::StatusOr<BackwardCalls> From(const Run& run);
};

struct LiveGraphs {
  static constexpr std::string_view kName = "live graphs";
  // The longest row of sampled steps in which nearly all graphs looked at were alive, and never
  // fewer than in the step before.
  struct Row {
    int64_t steps = 0, first_step = 0, last_step = 0;
    double first = 0, last = 0;  // graphs alive
    SiteId site = 0;             // of their backward calls, if they have one line
  };
  const Trace* trace = nullptr;
  Row growing;
  int64_t judged = 0;  // steps

  // Errors: NotFound if graphs were not looked at.
  static absl::StatusOr<LiveGraphs> From(const Run& run);
};

}  // namespace dlcheck

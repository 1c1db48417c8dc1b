// Whether gradients are zeroed between updates. Judged by the values of the gradients, not by the
// calls: `p.grad = None` and zeroing in place count too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"
#include "checks/signals/gradients/gradients.h"

namespace dlcheck {

struct Clearing {
  static constexpr std::string_view kName = "clearing";
  // One update whose gradients still held, before its first backward, what the update before it
  // used.
  struct Stale {
    int64_t step = 0, last_step = 0;      // equal but for a gap
    int64_t updates = 1;                  // how many of the gap's
    std::vector<std::string> parameters;  // empty for a gap, which only counts
    double norm = 0;                      // of all that was held; 0 for a gap
    SiteId backward_site = 0;
  };
  std::vector<Stale> stale;  // by step
  int64_t updates_judged = 0;
  int64_t parameters = 0;   // that were judged at all
  NamedSite backward_site;  // of the first stale update; line 0 if not known
  NamedSite step_site;      // of all step calls; line 0 if there are several, or none is known

  // Errors: NotFound if fewer than two updates were observed.
  static absl::StatusOr<Clearing> From(const Run& run);
};

}  // namespace dlcheck

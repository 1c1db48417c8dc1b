// The events of each sampled step, in order: zero_grad, backward, clipping, unscaling, step.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct StepOrder {
  static constexpr std::string_view kName = "order within steps";
  struct Step {
    int64_t step = 0;
    ThingId optimizer = 0;
    SiteId site = 0;                 // of the step call
    bool taken = true;               // false if the weights were left alone
    std::vector<Occurrence> events;  // before its end, in order

    // Places in `events`; end() and -1 where there is none.
    int64_t FirstBackward() const;
    int64_t LastBackward() const;
    int64_t First(Event event) const;
    int64_t Count(Event event) const;
    // Events of a kind at places from `begin` on and before `end`.
    std::vector<Occurrence> Within(Event event, int64_t begin, int64_t end) const;
    int64_t end() const { return static_cast<int64_t>(events.size()); }
  };
  std::vector<Step> steps;       // sampled and ended, ascending
  std::set<ThingId> optimizers;  // that stepped
  const Trace* trace = nullptr;  // for names; valid as long as the run

  bool has_one_optimizer() const { return optimizers.size() == 1; }
  // True if no optimizer steps again after another one did: there is one at a time, as when a model
  // is created again.
  bool has_one_at_a_time() const;

  // Of the first process only: others have clocks of their own. Errors: NotFound if no optimizer
  // step was seen.
  static absl::StatusOr<StepOrder> From(const Run& run);
};

}  // namespace dlcheck

// The costs of sampled steps: time, wait for data, memory.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct StepCosts {
  static constexpr std::string_view kName = "costs of steps";
  struct Cost {
    int64_t step = 0;
    double value = 0;
  };
  using Costs = std::vector<Cost>;  // by step
  Costs time;                       // s, from the end of the step before
  Costs undisturbed;                // the same, of steps without other work
  Costs wait;                       // s of it, for batches of loaders
  Costs peak;                       // bytes, the most resident so far
  Costs resident;                   // bytes, after the step
  Costs reads;                      // of an accelerator by the host
  Costs idle;                       // share of the step in which no accelerator worked
  NamedSite reading;                // where the first of them stands
  double passes = 0;                // over the data of all loaders; 0 if unknown

  // Of the first process. Errors: NotFound if no cost was recorded.
  static absl::StatusOr<StepCosts> From(const Run& run);
};

// The values from place `begin` on and before `end`. REQUIRES: begin <= end <= costs.size().
std::vector<double> ValuesOf(const StepCosts::Costs& costs, size_t begin, size_t end);

// The least of each of kParts parts, with equally many steps, of what comes from place `begin` on:
// what grows in all of them is no disturbance. REQUIRES: begin + kParts <= costs.size().
inline constexpr size_t kParts = 12;
std::vector<double> LeastOfParts(const StepCosts::Costs& costs, size_t begin);

// The first steps of a run fill caches and allocators; medians skip as many as this.
inline constexpr size_t kWarmUp = 8;

}  // namespace dlcheck

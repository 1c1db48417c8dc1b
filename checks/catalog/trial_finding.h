// How the checks on trials judge: outputs that moved further than rounding explains.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "checks/engine/check.h"
#include "checks/signals/sensitivities.h"

namespace dlcheck {

inline constexpr Setting kTimes{
    .name = "times",
    .value = 16,
    .low = 1,
    .high = 1e9,
    .unit = "times what rounding explains",
    .meaning = "motion of outputs that counts, added to `floor`",
    .source = "measured: exactly 0 in three healthy models, 0.0034 and 0.17 with two faults"};
inline constexpr Setting kFloor{.name = "floor",
                                .value = 1e-6,
                                .low = 0,
                                .high = 1,
                                .unit = "of the outputs' norm",
                                .meaning = "motion of outputs that counts, added to `times`",
                                .source = "rounding of float32 sums whose order changes: 1e-7"};

struct TrialText {
  std::string_view before;   // "When only later tokens change, outputs at early positions of "
  std::string_view nothing;  // why there may be no such trial, where the host says nothing
  Severity severity;
};

// At most one finding: of the first trial whose outputs moved.
// Errors: FailedPrecondition without a trial.
absl::StatusOr<Verdict> JudgeTrials(const Settings& settings, const Sensitivities::Of& tried,
                                    const TrialText& text);

// A run of trials beside a plain one, for the examples: one result on a model called Gpt.
Evidence WithTrial(Quantity quantity, double share, double rounding);

}  // namespace dlcheck

// How checks judge tests on a copy of the model: outputs that change more than rounding explains.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "checks/engine/check.h"
#include "checks/signals/model/sensitivities.h"

namespace dlcheck {

inline constexpr Setting kTimes{
    .name = "times",
    .value = 16,
    .low = 1,
    .high = 1e9,
    .unit = "times what rounding explains",
    .meaning = "smallest reported change of the outputs, added to `floor`",
    .source = "measured: exactly 0 in three healthy models, 0.0034 and 0.17 with two faults"};
inline constexpr Setting kFloor{
    .name = "floor",
    .value = 1e-6,
    .low = 0,
    .high = 1,
    .unit = "of the outputs' norm",
    .meaning = "smallest reported change of the outputs, added to `times`",
    .source = "rounding of float32 sums whose order changes: 1e-7"};

struct TrialText {
  std::string_view before;   // "With only later tokens replaced, outputs at early positions of "
  std::string_view nothing;  // why there may be no such test, where the program gives no reason
  Severity severity;
};

// At most one finding: of the first test whose outputs changed.
// Errors: FailedPrecondition without a test.
absl::StatusOr<Verdict> JudgeTrials(const Settings& settings, const Sensitivities::Of& tried,
                                    const TrialText& text);

// A run of tests beside a plain run, for the examples: one result on a model called Gpt.
Evidence WithTrial(Quantity quantity, double share, double rounding);

}  // namespace dlcheck

// Which quantities and events of the records become series and marks.
#pragma once

#include <string_view>
#include <vector>

#include "checks/records/names.h"

namespace dlcheck {

struct DrawnQuantity {
  Quantity quantity;
  std::string_view unit;
  double factor = 1;  // from the unit of the records
};

inline constexpr double kMebibyte = 1.0 / (1 << 20);

// In the order of a report.
inline constexpr DrawnQuantity kDrawn[] = {
    {Quantity::kLoss, ""},
    {Quantity::kEvaluationLoss, ""},
    {Quantity::kConstantLoss, ""},
    {Quantity::kMetric, ""},
    {Quantity::kLearningRate, ""},
    {Quantity::kScheduledRate, ""},
    {Quantity::kLossScale, ""},
    {Quantity::kStepTime, "s"},
    {Quantity::kLoaderWait, "s"},
    {Quantity::kForwardTime, "s"},
    {Quantity::kBackwardTime, "s"},
    {Quantity::kOptimizerTime, "s"},
    {Quantity::kEvaluationTime, "s"},
    {Quantity::kSavingTime, "s"},
    {Quantity::kDeviceIdle, ""},
    {Quantity::kMemory, "MiB", kMebibyte},
    {Quantity::kResidentMemory, "MiB", kMebibyte},
    {Quantity::kInputNorm, ""},
    {Quantity::kGradientNorm, ""},
    {Quantity::kHeldGradientNorm, ""},
    {Quantity::kUpdateNorm, ""},
    {Quantity::kWeightNorm, ""},
};

// Worked out from several: the norm of all gradients of an optimizer, and how far a step moved a
// parameter, as a share of its norm.
inline constexpr std::string_view kTotalGradientNorm = "total_gradient_norm";
inline constexpr std::string_view kUpdateRatio = "update_ratio";

inline constexpr Event kMarked[] = {Event::kEvaluated, Event::kEvaluationEnded, Event::kSaved,
                                    Event::kLoaded,    Event::kSkipped,         Event::kEpoch,
                                    Event::kMode,      Event::kFrozen,          Event::kThawed};

}  // namespace dlcheck

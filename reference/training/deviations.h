// Every way in which a run can be wrong on purpose inside a mechanism, as one value. Faults fill it
// in; without a fault everything is kNone.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "reference/models/losses.h"
#include "reference/models/models.h"
#include "reference/optimization/averaging.h"
#include "reference/optimization/clipping.h"
#include "reference/optimization/optimizers.h"
#include "reference/optimization/schedules.h"
#include "reference/precision/activation_checkpoint.h"
#include "reference/precision/loss_scaler.h"

namespace dlcheck::reference {

// How ranks train together.
enum class RanksDeviation : uint8_t {
  kNone,
  kMeanOfRankMeans,   // each rank counts alike, whatever it holds
  kScaledByWorld,     // gradients are summed where they are to be averaged
  kSharedTooEarly,    // after the first micro-batch of a window, and not after the last
  kOwnBuffers,        // each rank keeps those that it has
  kSameRows,          // each takes those of the first
  kOwnNormGradients,  // no gradient goes through joined statistics to the rows of others
  // Where ranks share out the state:
  kNotPutTogether,  // each keeps the old numbers of the others' stretches
  kNormOfPart,      // each clips by the norm of what it keeps
  kOwnInfinity,     // each leaves a step out by what it found itself
};

struct Deviations {
  OptimizerDeviation optimizer = OptimizerDeviation::kNone;
  ScheduleDeviation schedule = ScheduleDeviation::kNone;
  ClipDeviation clip = ClipDeviation::kNone;
  AverageDeviation average = AverageDeviation::kNone;
  ScalerDeviation scaler = ScalerDeviation::kNone;
  LossDeviation loss = LossDeviation::kNone;
  AttentionDeviation attention = AttentionDeviation::kNone;
  TyingDeviation tying = TyingDeviation::kNone;
  CheckpointDeviation recomputation = CheckpointDeviation::kNone;
  RanksDeviation ranks = RanksDeviation::kNone;
  bool autocast_left_out = false;
  std::set<std::string> forgotten;  // parts of the state that a resumed run does not get back
  std::string saved_in_bf16;        // a part of the state that loses its low bits on its way
};

}  // namespace dlcheck::reference

#include <algorithm>

#include "reference/faults/planters.h"
#include "reference/faults/step_faults.h"

namespace dlcheck::reference {
namespace {

template <ScheduleDeviation kDeviation>
void PlantSchedule(Plan& plan) {
  NeedSchedule(plan);
  if (kDeviation == ScheduleDeviation::kRisesAgain) plan.recipe.horizon = plan.recipe.steps / 2;
  plan.deviations.schedule = kDeviation;
}

void PlantMilestonesLate(Plan& plan) {
  PlantSchedule<ScheduleDeviation::kOneBehind>(plan);
  plan.recipe.schedule = "multi_step";
  plan.recipe.schedule_gamma = 0.5;
  plan.recipe.milestones = "30,40,50,60,70,80";
}

void PlantDecaysPerEpoch(Plan& plan) {
  PlantSchedule<ScheduleDeviation::kHeld>(plan);
  plan.recipe.schedule = "exponential";
  plan.recipe.schedule_gamma = 0.98;
}

void PlantCycleTooLong(Plan& plan) {
  PlantSchedule<ScheduleDeviation::kLongHorizon>(plan);
  plan.recipe.schedule = "one_cycle";
  plan.recipe.warmup_steps = 0;
}

void PlantNoRestarts(Plan& plan) {
  PlantSchedule<ScheduleDeviation::kNoRestarts>(plan);
  plan.recipe.schedule = "cosine_restarts";
  plan.recipe.restart_period = 20;
}

void PlantNoPower(Plan& plan) {
  PlantSchedule<ScheduleDeviation::kNoPower>(plan);
  plan.recipe.schedule = "polynomial";
  plan.recipe.power = 2;
}

void PlantFirstGroupAlone(Plan& plan) {
  NeedSchedule(plan);
  ScheduleFirstGroupAlone(plan);
}

}  // namespace

void NeedSchedule(Plan& plan) {
  plan.recipe.schedule = "cosine";
  plan.recipe.warmup_steps = 20;
  plan.recipe.steps = std::max<int64_t>(plan.recipe.steps, 100);
}

Planters ScheduleFaults() {
  using F = FaultName;
  return {
      {F::kOneStepAhead, PlantSchedule<ScheduleDeviation::kOneAhead>},
      {F::kPerEpoch, PlantSchedule<ScheduleDeviation::kHeld>},
      {F::kFirstGroupAlone, PlantFirstGroupAlone},
      {F::kLongHorizon, PlantSchedule<ScheduleDeviation::kLongHorizon>},
      {F::kRisesAgain, PlantSchedule<ScheduleDeviation::kRisesAgain>},
      {F::kMainNotShifted, PlantSchedule<ScheduleDeviation::kMainNotShifted>},
      {F::kNeverMoves, PlantSchedule<ScheduleDeviation::kNeverMoves>},
      {F::kOneStepBehind, PlantSchedule<ScheduleDeviation::kOneBehind>},
      {F::kTwiceAsFast, PlantSchedule<ScheduleDeviation::kTwiceAsFast>},
      {F::kNoWarmup, PlantSchedule<ScheduleDeviation::kNoWarmup>},
      {F::kNoRestarts, PlantNoRestarts},
      {F::kNoPower, PlantNoPower},
      {F::kMilestonesLate, PlantMilestonesLate},
      {F::kDecaysPerEpoch, PlantDecaysPerEpoch},
      {F::kCycleTooLong, PlantCycleTooLong},
  };
}

}  // namespace dlcheck::reference

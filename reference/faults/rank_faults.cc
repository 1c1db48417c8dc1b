#include "reference/faults/planters.h"

namespace dlcheck::reference {
namespace {

void PlantSharedTooEarly(Plan& plan) {
  plan.recipe.gradient_accumulation_steps = 2;
  plan.deviations.ranks = RanksDeviation::kSharedTooEarly;
}

void PlantOwnBuffers(Plan& plan) {
  plan.recipe.model = "resnet";
  plan.recipe.evaluate_every = 30;
  plan.deviations.ranks = RanksDeviation::kOwnBuffers;
}

void PlantSameRows(Plan& plan) { plan.deviations.ranks = RanksDeviation::kSameRows; }

}  // namespace

Planters RankFaults() {
  return {{FaultName::kRanksShareTooEarly, &PlantSharedTooEarly},
          {FaultName::kRanksTakeSameRows, &PlantSameRows},
          {FaultName::kRanksKeepOwnBuffers, &PlantOwnBuffers}};
}

}  // namespace dlcheck::reference

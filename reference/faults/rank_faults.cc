#include "reference/faults/planters.h"

namespace dlcheck::reference {
namespace {

void PlantSharedTooEarly(Plan& plan) {
  plan.recipe.gradient_accumulation_steps = 2;
  plan.deviations.ranks = RanksDeviation::kSharedTooEarly;
}

void PlantSameRows(Plan& plan) { plan.deviations.ranks = RanksDeviation::kSameRows; }

}  // namespace

Planters RankFaults() {
  return {{FaultName::kRanksShareTooEarly, &PlantSharedTooEarly},
          {FaultName::kRanksTakeSameRows, &PlantSameRows}};
}

}  // namespace dlcheck::reference

#include <memory>
#include <vector>

#include "reference/faults/planters.h"

namespace dlcheck::reference {
namespace {

using torch::Tensor;

constexpr int64_t kIgnored = -100;  // as the loss has it

void PlantTargetsIgnored(Plan& plan) {
  plan.batch = [](int64_t, const Batch& batch) {
    return Batch{batch.x, torch::full_like(batch.y, kIgnored)};
  };
}

void PlantOutputsAfterSoftmax(Plan& plan) {
  plan.logits = [](const Tensor& logits) { return logits.softmax(-1); };
}

template <int kNumerator, int kDenominator>
void PlantLossTimes(Plan& plan) {
  const double factor = 1.0 * kNumerator / kDenominator;
  plan.loss = [factor](int64_t, const Tensor& loss) { return loss * factor; };
}

constexpr int kBatchOfLoss = 32;

void PlantLossAveragedTwice(Plan& plan) {
  plan.recipe.batch_size = kBatchOfLoss;
  PlantLossTimes<1, kBatchOfLoss>(plan);
}

void PlantMemoryKept(Plan& plan) {
  constexpr int64_t kNumbers = 1 << 18;
  const auto kept = std::make_shared<std::vector<Tensor>>();
  plan.step_begins = [kept](int64_t) { kept->push_back(torch::ones({kNumbers})); };
}

}  // namespace

Planters LossFaults() {
  using F = FaultName;
  return {
      {F::kTargetsIgnored, PlantTargetsIgnored},
      {F::kOutputsAfterSoftmax, PlantOutputsAfterSoftmax},
      {F::kLossNegated, PlantLossTimes<-1, 1>},
      {F::kLossAveragedTwice, PlantLossAveragedTwice},
      {F::kMemoryKept, PlantMemoryKept},
  };
}

}  // namespace dlcheck::reference

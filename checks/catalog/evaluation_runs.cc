#include "checks/catalog/evaluation_runs.h"

#include "checks/catalog/example_runs.h"

namespace dlcheck {

Evidence ThreeEvaluations(const EvaluationValues& values) {
  constexpr int kEvaluations = 3;
  RunBuilder run = TwoLayers();
  run.Attribute("module", "dropout", "mode_dependent", "1");
  for (int i = 0; i <= kEvaluations; ++i) {
    const bool changes = i >= kEvaluations - values.changed;
    const bool trains =
        i >= kEvaluations - values.in_training_mode || (i == 0 && values.begins_in_training_mode);
    if (i < kEvaluations) {
      run.Event(Event::kEvaluationBegan, 0, "model", "Net");
      run.Quantity(Quantity::kModelDigest, "model", "Net", 7, i);
      run.Quantity(Quantity::kRandomDigest, "model", "Net", 8, i);
      for (int batch = 0; batch < 2; ++batch) {
        run.Event(Event::kEvaluationForward, trains ? 1 : 0, "model", "Net");
      }
      run.Quantity(Quantity::kModelDigest, "model", "Net", changes ? 9 : 7, i);
      run.Quantity(Quantity::kRandomDigest, "model", "Net", values.random_drawn ? 10 : 8, i);
      run.Event(Event::kEvaluated, 2.3, "", "", 64);
    }
    AddStep(run, {.held = {}});
    if (!values.swaps_average) continue;
    run.Quantity(Quantity::kAverageDistance, "average", "average", 0.1);
    run.Quantity(Quantity::kAverageUpdate, "average", "average", 0.1);
  }
  return PlainOnly(run);
}

}  // namespace dlcheck

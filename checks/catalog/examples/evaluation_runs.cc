#include "checks/catalog/examples/evaluation_runs.h"

#include "checks/catalog/examples/example_runs.h"

namespace dlcheck {
namespace {

void DrawSamples(RunBuilder& run) {
  run.Event(Event::kEvaluationBegan, 0, "model", "Net");
  run.Quantity(Quantity::kModelDigest, "model", "Net", 11);
  run.Event(Event::kEvaluationForward, 1, "model", "Net");
  run.Quantity(Quantity::kModelDigest, "model", "Net", 12);
  run.Event(Event::kEvaluationEnded, 0, "model", "Net");
}

}  // namespace

Evidence ThreeEvaluations(const EvaluationValues& values) {
  constexpr int kEvaluations = 3;
  RunBuilder run = TwoLayers();
  if (values.has_dropout) run.Attribute("module", "dropout", "mode_dependent", "1");
  for (int i = 0; i <= kEvaluations; ++i) {
    const bool changes = i >= kEvaluations - values.changed;
    const bool trains =
        i >= kEvaluations - values.in_training_mode || (i == 0 && values.begins_in_training_mode);
    if (i < kEvaluations) {
      run.Event(Event::kEvaluationBegan, 0, "model", "Net");
      run.Quantity(Quantity::kModelDigest, "model", "Net", 7, i);
      run.Quantity(Quantity::kRandomDigest, "model", "Net", 8, i);
      for (int batch = 0; batch < values.batches; ++batch) {
        const double enabled = batch < values.with_gradients ? 1 : 0;
        run.Event(Event::kEvaluationForward, trains ? 1 : 0, "model", "Net", enabled);
      }
      run.Quantity(Quantity::kModelDigest, "model", "Net", changes ? 9 : 7, i);
      run.Quantity(Quantity::kRandomDigest, "model", "Net", values.random_drawn ? 10 : 8, i);
      if (values.declared) run.Event(Event::kEvaluated, 2.3, "", "", 64);
      if (!values.declared) run.Event(Event::kEvaluationEnded, 0, "model", "Net");
    }
    if (values.draws_samples) DrawSamples(run);
    for (int step = 0; step < values.steps_between; ++step) AddStep(run, {.held = {}});
    if (!values.swaps_average) continue;
    run.Quantity(Quantity::kAverageDistance, "average", "average", 0.1);
    run.Quantity(Quantity::kAverageUpdate, "average", "average", 0.1);
  }
  return PlainOnly(run);
}

Evidence OneForward(bool in_training_mode, bool after_all_steps) {
  RunBuilder run = TwoLayers();
  run.Attribute("module", "dropout", "mode_dependent", "1");
  for (int step = 0; step < 4; ++step) AddStep(run, {.held = {}});
  run.Event(Event::kEvaluationBegan, 0, "model", "Net");
  run.Event(Event::kEvaluationForward, in_training_mode ? 1 : 0, "model", "Net");
  run.Event(Event::kEvaluationEnded, 0, "model", "Net");
  if (!after_all_steps) AddStep(run, {.held = {}});
  return PlainOnly(run);
}

}  // namespace dlcheck

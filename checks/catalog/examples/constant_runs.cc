#include "checks/catalog/examples/constant_runs.h"

#include "checks/catalog/examples/example_runs.h"

namespace dlcheck {
namespace {

RunBuilder Starting(double constant, int samples) {
  RunBuilder run = TwoLayers();
  run.Quantity(Quantity::kInitialLoss, "loss", "cross_entropy", 2.3, samples);
  run.Quantity(Quantity::kIndependentLoss, "loss", "cross_entropy", 2.3, samples);
  run.Quantity(Quantity::kConstantLoss, "loss", "cross_entropy", constant, 10);
  return run;
}

}  // namespace

Evidence Ending(double late, int others, int first, int pooled) {
  RunBuilder run = Starting(first < 24 ? 1.6 : 2.3, first);
  if (pooled > 0) {
    run.Quantity(Quantity::kPooledConstantLoss, "loss", "cross_entropy", 2.3, first + pooled);
  }
  for (int step = 0; step < 100; ++step) {
    if (100 - step == others) {
      run.Ordinal(1).Event(Event::kStep, 0, "optimizer", "optimizer#1").Ordinal(0);
    }
    AddStep(run, {.loss = step < 50 ? 2.3 : late, .held = {}});
  }
  return PlainOnly(run);
}

Evidence Term(double mean, double constant) {
  RunBuilder run = Starting(constant, 64);
  for (int step = 0; step < 100; ++step) {
    run.Quantity(Quantity::kMeanLoss, "loss", "cross_entropy", mean, 64);
    AddStep(run, {.loss = 8 - 0.02 * step, .held = {}});
  }
  return PlainOnly(run);
}

}  // namespace dlcheck

#include "checks/catalog/examples/example_runs.h"

#include <cmath>

namespace dlcheck {

RunBuilder TwoLayers() {
  RunBuilder run;
  run.Event(Event::kSeeded, 7);
  run.Parameter("trunk.weight").Parameter("head.weight");
  run.Attribute("parameter", "trunk.weight", "shape", "64x32");
  run.Attribute("parameter", "trunk.weight", "elements", "2048");
  run.Attribute("parameter", "head.weight", "shape", "10x64");
  run.Attribute("parameter", "head.weight", "elements", "640");
  return run;
}

void AddStep(RunBuilder& run, const StepValues& values) {
  if (!values.held) run.Event(Event::kCleared, 0, "optimizer", "optimizer#0");
  run.Event(Event::kForward, 1, "module", "trunk").Event(Event::kForward, 1, "module", "head");
  run.Quantity(Quantity::kLoss, "loss", "cross_entropy", values.loss, values.loss_samples);
  run.Event(Event::kBackward, 0, "loss", "cross_entropy");
  if (values.held) {
    run.Quantity(Quantity::kHeldGradientNorm, "parameter", "trunk.weight", *values.held);
    run.Quantity(Quantity::kHeldGradientNorm, "parameter", "head.weight", *values.held);
  }
  if (values.uncleared) run.Event(Event::kUncleared, 2);
  if (values.trunk_gradient) {
    run.Quantity(Quantity::kGradientNorm, "parameter", "trunk.weight", *values.trunk_gradient,
                 values.nonfinite);
  }
  if (values.head_gradient) {
    run.Quantity(Quantity::kGradientNorm, "parameter", "head.weight", *values.head_gradient);
  }
  run.Event(Event::kStep, 0, "optimizer", "optimizer#0");
}

Run LossesOnly(const std::vector<double>& losses, double share) {
  RunBuilder run;
  run.Attribute("loss", "cross_entropy", "kind", "cross_entropy");
  run.Attribute("loss", "cross_entropy", "classes", "10");
  for (const double loss : losses) {
    run.Quantity(Quantity::kInputNorm, "model", "Net", 1);
    run.Quantity(Quantity::kLossShare, "loss", "cross_entropy", share, 32);
    run.Quantity(Quantity::kLoss, "loss", "cross_entropy", loss, 32);
    run.Event(Event::kStep, 0, "optimizer", "optimizer#0");
  }
  return run.Build();
}

std::vector<double> FallingLosses(int steps, double floor) {
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    losses.push_back(floor + (2.3 - floor) * std::exp(-8.0 * step / steps));
  }
  return losses;
}

Evidence PlainOnly(const RunBuilder& run) {
  Evidence evidence;
  evidence.Add(kPlain, run.Build());
  return evidence;
}

}  // namespace dlcheck

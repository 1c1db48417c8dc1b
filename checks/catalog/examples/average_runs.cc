#include "checks/catalog/examples/average_runs.h"

#include "checks/catalog/examples/example_runs.h"

namespace dlcheck {

Evidence Averaged(const AverageValues& values) {
  RunBuilder run = TwoLayers();
  if (!values.decay.empty()) run.Process("declared.ema-decay", values.decay);
  for (int step = 0; step < 12; ++step) {
    run.Quantity(Quantity::kUpdateNorm, "parameter", "head.weight", values.update);
    AddStep(run, {.held = {}});
    const bool first = step == 0;
    const double distance = first ? 0 : values.distance + values.growth * step;
    run.Quantity(Quantity::kAverageDistance, "average", "average", distance);
    run.Quantity(Quantity::kAverageUpdate, "average", "average", first ? 1 : values.moved);
  }
  return PlainOnly(run);
}

}  // namespace dlcheck

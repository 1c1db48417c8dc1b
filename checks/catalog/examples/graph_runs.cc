#include "checks/catalog/examples/graph_runs.h"

#include "checks/catalog/examples/example_runs.h"

namespace dlcheck {

Evidence WithGraphs(const GraphValues& values) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < kGraphSteps; ++step) {
    run.Event(Event::kForward, 1, "module", "trunk").Event(Event::kForward, 1, "module", "head");
    run.Event(Event::kBackward, values.retains ? 1 : 0, "loss", "cross_entropy");
    run.Event(Event::kBackward, values.retains_last ? 1 : 0, "loss", "mse_loss");
    for (const char* name : {"trunk.weight", "head.weight"}) {
      run.Quantity(Quantity::kGradientNorm, "parameter", name, 0.1);
    }
    run.Quantity(Quantity::kLiveGraphs, "", "", values.alive(step), step + 1);
    run.Event(Event::kStep, 0, "optimizer", "");
  }
  return PlainOnly(run);
}

}  // namespace dlcheck

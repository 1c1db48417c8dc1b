#include "checks/catalog/examples/cost_runs.h"

#include <algorithm>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/text.h"

namespace dlcheck {

Evidence WithCosts(const CostValues& values) {
  RunBuilder run = TwoLayers();
  run.Attribute("loader", "train", "samples", StrCat(32 * values.steps / values.passes));
  run.Attribute("loader", "train", "batch_size", "32");
  double peak = 0;
  for (int step = 0; step < values.steps; ++step) {
    run.Event(Event::kFetched, 0, "loader", "train", 32);
    peak = std::max(peak, values.resident(step));
    run.Quantity(Quantity::kStepTime, "optimizer", "optimizer#0", values.time(step));
    run.Quantity(Quantity::kLoaderWait, "optimizer", "optimizer#0", values.wait(step));
    run.Quantity(Quantity::kMemory, "optimizer", "optimizer#0", peak);
    run.Quantity(Quantity::kResidentMemory, "optimizer", "optimizer#0", values.resident(step));
    if (values.reads) {
      run.Quantity(Quantity::kHostReads, "optimizer", "optimizer#0", values.reads(step));
    }
    AddStep(run, {.held = {}});
  }
  return PlainOnly(run);
}

}  // namespace dlcheck

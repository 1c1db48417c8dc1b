#include "checks/catalog/examples/clip_runs.h"

#include "checks/catalog/examples/window_runs.h"

namespace dlcheck {

Evidence ClippedSteps(int reaching, int steps, double bound) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < steps; ++step) {
    BeginStep(run);
    run.Event(Event::kClip, bound, "clip", "norm", 2);
    const double scale = bound * (step < reaching ? 1 : 0.01);
    EndStep(run, {.trunk_gradient = 0.6 * scale, .head_gradient = 0.8 * scale});
  }
  return PlainOnly(run);
}

}  // namespace dlcheck

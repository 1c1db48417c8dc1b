#include "checks/catalog/examples/clip_runs.h"

#include "checks/catalog/examples/window_runs.h"

namespace dlcheck {

Evidence ClippedSteps(int reaching) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 200; ++step) {
    BeginStep(run);
    run.Event(Event::kClip, 1, "clip", "norm", 2);
    const double scale = step < reaching ? 1 : 0.01;
    EndStep(run, {.trunk_gradient = 0.6 * scale, .head_gradient = 0.8 * scale});
  }
  return PlainOnly(run);
}

}  // namespace dlcheck

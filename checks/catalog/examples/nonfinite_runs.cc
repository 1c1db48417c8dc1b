#include "checks/catalog/examples/nonfinite_runs.h"

#include <limits>

#include "checks/catalog/examples/window_runs.h"

namespace dlcheck {

Evidence GradientWith(double nonfinite_elements) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 8; ++step) {
    AddStep(run,
            {.trunk_gradient = 3e38, .held = {}, .nonfinite = step == 5 ? nonfinite_elements : 0});
  }
  return PlainOnly(run);
}

Evidence Born(std::string_view of, std::string_view name, std::string_view step) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  RunBuilder run = TwoLayers();
  for (int i = 0; i < 8; ++i) {
    AddStep(run, {.loss = i == 5 ? kInfinite : 2, .held = {}, .nonfinite = i == 5 ? 1.0 : 0.0});
  }
  run.Attribute("loss", "cross_entropy", "born_step", step);
  run.Attribute("loss", "cross_entropy", "born_of", of);
  run.Attribute("loss", "cross_entropy", "born_name", name);
  run.Attribute("loss", "cross_entropy", "born_distance", "4");
  run.Attribute("loss", "cross_entropy", "born_low", "0");
  run.Attribute("loss", "cross_entropy", "born_high", "3.1");
  return PlainOnly(run);
}

Evidence Replayed() {
  RunBuilder replay;
  for (int i = 0; i < 5; ++i) AddStep(replay, {.held = {}});
  replay.Quantity(Quantity::kNonfiniteBirth, "birth", "aten::log", 2, 96);
  replay.Attribute("birth", "aten::log", "of", "operation");
  replay.Attribute("birth", "aten::log", "inputs", "[0, 3.1]");
  replay.Attribute("birth", "aten::log", "phase", "forward");
  replay.Attribute("birth", "aten::log", "module", "trunk");
  replay.Attribute("birth", "aten::log", "samples", "4 and 9");
  replay.Attribute("birth", "aten::log", "path", "log (trunk) > addmm (head) > mean (forward)");
  Evidence evidence = Born("operation", "log", "5");
  evidence.Add(kReplay, replay.Build());
  return evidence;
}

Evidence LeftOut() {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 8; ++step) {
    BeginStep(run);
    EndStep(run, {.nonfinite = step == 5 ? 1.0 : 0.0, .taken = step != 5});
  }
  return PlainOnly(run);
}

Evidence MaskKept() {
  RunBuilder run = TwoLayers();
  AddStep(run, {.held = {}});
  run.Attribute("parameter", "mask", "requires_grad", "0");
  run.Quantity(Quantity::kWeightNorm, "parameter", "mask", std::numeric_limits<double>::infinity(),
               28);
  return PlainOnly(run);
}

}  // namespace dlcheck

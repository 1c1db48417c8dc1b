#include "checks/catalog/examples/window_runs.h"

namespace dlcheck {

void ContinueStep(RunBuilder& run, const Windows::MicroBatch& micro) {
  if (micro.samples > 0) run.Event(Event::kUsed, micro.samples, "model", "Net");
  run.Event(Event::kForward, 1, "module", "trunk").Event(Event::kForward, 1, "module", "head");
  run.Quantity(Quantity::kLoss, "loss", "cross_entropy", 2.3 * micro.share, micro.targets);
  run.Quantity(Quantity::kLossShare, "loss", "cross_entropy", micro.share, micro.targets);
  run.Event(Event::kBackward, 0, "loss", "cross_entropy");
}

void BeginStep(RunBuilder& run, const std::vector<Windows::MicroBatch>& micro, bool clears_inside) {
  for (size_t i = 0; i < micro.size(); ++i) {
    if (i == 0 || clears_inside) run.Event(Event::kCleared, 0, "optimizer", "optimizer#0");
    ContinueStep(run, micro[i]);
  }
}

void EndStep(RunBuilder& run, const StepEnd& values) {
  run.Quantity(Quantity::kGradientNorm, "parameter", "trunk.weight", values.trunk_gradient,
               values.nonfinite);
  run.Quantity(Quantity::kGradientNorm, "parameter", "head.weight", values.head_gradient);
  run.Quantity(Quantity::kWeightNorm, "parameter", "trunk.weight", 8, values.nonfinite_after);
  run.Quantity(Quantity::kWeightNorm, "parameter", "head.weight", 4);
  if (!values.taken) run.Event(Event::kSkipped, 0, "optimizer", values.optimizer);
  run.Event(Event::kStep, 0, "optimizer", values.optimizer);
}

Evidence WindowsOf(const std::vector<std::vector<Windows::MicroBatch>>& windows, bool declared,
                   std::string_view kind) {
  RunBuilder run = TwoLayers();
  run.Attribute("loss", "cross_entropy", "kind", kind);
  if (declared) run.Process("declared.accumulation", "mean");
  for (size_t step = 0; step < 16; ++step) {
    BeginStep(run, windows[step % windows.size()]);
    EndStep(run);
  }
  return PlainOnly(run);
}

Evidence FourShares(double share, bool declared) {
  return WindowsOf({std::vector<Windows::MicroBatch>(4, {share, 32})}, declared);
}

}  // namespace dlcheck

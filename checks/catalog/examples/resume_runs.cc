#include "checks/catalog/examples/resume_runs.h"

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/run_builder.h"

namespace dlcheck {
namespace {

// Four steps from `step` on, where the optimizer's moments have the digest `moments`.
Run FourSteps(int64_t step, double moments, double loss) {
  RunBuilder run;
  run.Resume(step);
  run.Quantity(Quantity::kStateDigest, "state", "model", 11, 12);
  run.Quantity(Quantity::kStateDigest, "state", "optimizer/first", 13, moments);
  for (int i = 0; i < 4; ++i) AddStep(run, {.loss = i == 3 ? loss : 2.3, .held = {}});
  return run.Build();
}

}  // namespace

Evidence Resumed(double moments, double loss, double again) {
  Evidence evidence;
  evidence.Add(kPlain, FourSteps(kResumed.at_step, 14, 2.3));
  evidence.Add(kResumed, FourSteps(0, moments, loss));
  evidence.Add(kSameSeed, FourSteps(kResumed.at_step, again, 2.3));
  return evidence;
}

namespace {

Run SevenSteps(int64_t step, const Restart& restart) {
  RunBuilder run;
  run.Resume(step);
  run.Quantity(Quantity::kStateDigest, "state", "weights of Adam", 11, 12);
  run.Quantity(Quantity::kStateDigest, "state", "exp_avg of Adam", 13, restart.moments);
  run.Quantity(Quantity::kStateDigest, "state", "random/torch", 15, restart.order);
  if (restart.has_buffers) run.Quantity(Quantity::kStateDigest, "state", "buffers of Net", 17, 18);
  for (int i = 0; i < 4; ++i) AddStep(run, {.loss = restart.loss, .held = {}});
  return run.Build();
}

}  // namespace

Evidence Restarted(const Restart& restart) {
  Evidence evidence;
  evidence.Add(kPlain, FourSteps(0, 14, 2.3));
  evidence.Add(kInterrupted, SevenSteps(7, {}));
  evidence.Add(kResumed, SevenSteps(0, restart));
  return evidence;
}

}  // namespace dlcheck

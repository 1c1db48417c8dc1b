#include "checks/catalog/examples/scheduler_runs.h"

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/text.h"

namespace dlcheck {
namespace {

constexpr char kName[] = "CosineAnnealingLR";

class Writer {
 public:
  explicit Writer(const ScheduledRun& values) : values_(values), run_(TwoLayers()) {
    run_.Attribute("optimizer", "", "type", "SGD");
    if (!values.world_size.empty()) run_.Process("world_size", values.world_size);
    if (!values.batches.empty()) {
      run_.Attribute("loader", "", "samples", values.batches);
      run_.Attribute("loader", "", "batch_size", "1");
    }
    if (values.loaded) run_.Event(Event::kLoaded, 0, "optimizer", "");
    Own();
    if (values.is_second) run_.Event(Event::kScheduler, 0, "scheduler", "ExponentialLR", 0);
    double kind = values.rises_again ? 1 : 0;
    if (values.no_end) kind = 2;
    if (values.restarts) kind = 3;
    if (values.milestones) kind = 4;
    run_.Event(Event::kScheduler, values.horizon, "scheduler", kName, kind);
    if (values.depends) run_.Attribute("scheduler", kName, "step_depends", "1");
    run_.Owner("");
  }

  void Step(int step) {
    const bool moves = values_.every > 0 && (values_.at == MovesAt::kBeforeForward
                                                 ? step % values_.every == 0
                                                 : step % values_.every == values_.every - 1);
    if (moves && values_.at == MovesAt::kBeforeForward) Move();
    const bool late = moves && values_.at == MovesAt::kBetweenBatches;
    for (int i = 0; i < values_.backward_calls; ++i) {
      if (!late) run_.Event(Event::kForward, 1, "module", "trunk");
      run_.Event(Event::kBackward, 0, "loss", "cross_entropy");
    }
    if (late) Move();
    if (late) run_.Event(Event::kForward, 1, "module", "trunk");
    if (moves && values_.at == MovesAt::kBeforeStep) Move();
    for (const char* name : {"trunk.weight", "head.weight"}) {
      run_.Quantity(Quantity::kGradientNorm, "parameter", name, 0.1);
    }
    run_.Quantity(Quantity::kLearningRate, "group", "optimizer#0/group#0",
                  values_.moves_optimizer == 0 ? rate_ : 0.1);
    if (values_.skips_first && step == 0) {
      run_.Event(Event::kSkipped, 0, "optimizer", "").Resume(run_.step() + 1);
    } else {
      run_.Event(Event::kStep, 0, "optimizer", "");
    }
    if (moves && values_.at == MovesAt::kAfterStep) Move();
  }

  Evidence Finish() const { return PlainOnly(run_); }

 private:
  void Own() { run_.Ordinal(values_.moves_optimizer).Owner("optimizer", "").Ordinal(0); }

  void Move() {
    Own();
    for (int i = 0; i < values_.moves; ++i) {
      rate_ *= values_.factor;
      run_.Event(Event::kSchedule, rate_, "scheduler", kName, ++moved_);
    }
    run_.Owner("");
  }

  const ScheduledRun values_;
  RunBuilder run_;
  double rate_ = 0.1;
  int moved_ = 0;
};

}  // namespace

Evidence Scheduled(const ScheduledRun& values) {
  Writer writer(values);
  for (int step = 0; step < values.steps; ++step) writer.Step(step);
  return writer.Finish();
}

}  // namespace dlcheck

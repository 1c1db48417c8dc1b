// The part of the watcher that is about calls beside those of a step: modes, gradients that are
// enabled or disabled, and the random generator.
#include "checks/observe/preload/call_sites.h"
#include "checks/observe/preload/watcher.h"
#include "checks/observe/probe/guarded.h"

namespace dlcheck {

void Watcher::ModeSet(const torch::nn::Module& module, bool is_training, bool is_outermost) {
  const Inside inside;
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    recorder.models().TellMode(&module, is_training);
    const uint32_t model = is_outermost ? recorder.models().ThingOfRoot(&module) : 0;
    if (model != 0) recorder.PutMode(model, CallSite(), is_training);
  });
}

void Watcher::GradientsGiven(const std::vector<at::Tensor>& inputs,
                             const std::vector<at::Tensor>& gradients, bool creates_graph) {
  const Inside inside;
  if (!at::GradMode::is_enabled()) return;
  Guarded(recorder_.get(),
          [&](ProbeRecorder&) { operations_.GradientsGiven(inputs, gradients, creates_graph); });
}

void Watcher::PlateauGiven(bool is_max, double metric) {
  const Inside inside;
  Guarded(recorder_.get(), [&](ProbeRecorder&) { operations_.PlateauGiven(is_max, metric); });
}

void Watcher::RateSet(const torch::optim::OptimizerOptions& options, double lr) {
  const Inside inside;
  settings_.RateSet(options, lr);
}

void Watcher::GeneratorAsked() {
  const Inside inside;
  operations_.GeneratorAsked();
}

void Watcher::BatchChosen(const ChosenBatch& batch) {
  const Inside inside;
  Guarded(recorder_.get(), [&](ProbeRecorder&) { operations_.BatchChosen(batch); });
}

void Watcher::GradModeSet() {
  const Inside inside;
  operations_.GradModeSet();
  if (at::GradMode::is_enabled()) operations_.TrainingGoesOn();
  operations_.Update();
}

}  // namespace dlcheck

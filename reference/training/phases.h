// A training step as a list of phases: the healthy order, and what each phase does. A planted fault
// edits the list.
#pragma once

#include <torch/torch.h>

#include <cstddef>
#include <vector>

#include "reference/data/source.h"

namespace dlcheck::reference {

struct Training;
using Phase = void (*)(Training& training);

// At the beginning of a step, also where a resumed run goes on within it.
void EnterTrainingMode(Training& training);

// In a window. ForwardBackward takes the micro-batch that is next, moves it to the device, and adds
// its gradients.
void ZeroGradients(Training& training);
void ForwardBackward(Training& training);

// After the window. All but OptimizerStep do nothing where the recipe has no use for them.
void KeepOwnGradients(Training& training);  // ZeRO 1: each rank its shard
void Unscale(Training& training);
void Clip(Training& training);  // and notes the norm where it computes it
void SetLearningRates(Training& training);
void OptimizerStep(Training& training);  // skips a step with a non-finite gradient, if asked
void Gather(Training& training);         // all-gathers the parameters that ranks keep
void CountUpdate(Training& training);    // what schedules count: not a skipped step
void UpdateScaler(Training& training);
void SynchronizeAveragedBuffers(Training& training);
void UpdateEma(Training& training);  // not at a skipped step

// Before an evaluation.
void EnterEvaluationMode(Training& training);
// Ranks keep statistics of their own batches; what is evaluated, averaged and saved is the first
// one's model. All ranks call.
void SynchronizeBuffers(Training& training);

struct Phases {
  std::vector<Phase> step_begins = {EnterTrainingMode};
  std::vector<Phase> window_begins = {ZeroGradients};
  std::vector<Phase> micro_batch = {ForwardBackward};
  std::vector<Phase> step = {
      KeepOwnGradients, Unscale,     Clip,         SetLearningRates,           OptimizerStep,
      Gather,           CountUpdate, UpdateScaler, SynchronizeAveragedBuffers, UpdateEma};
  std::vector<Phase> evaluation_begins = {EnterEvaluationMode, SynchronizeBuffers};
};

inline void Run(const std::vector<Phase>& phases, Training& training) {
  for (const Phase phase : phases) phase(training);
}

// The micro-batches of the step that is under way.
struct Window {
  std::vector<Batch> batches = {};         // on the CPU
  std::vector<double> targets = {};        // of each; none where one micro-batch is the whole
  double all_targets = 0;                  // of the window; of many ranks the mean over them
  std::vector<torch::Tensor> losses = {};  // of those done by this process
};

// What the sum of losses of a micro-batch is divided by: the targets of the whole window.
double TargetsOfWindow(const Training& training, size_t micro);

}  // namespace dlcheck::reference

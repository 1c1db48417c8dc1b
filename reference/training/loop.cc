#include "reference/training/loop.h"

#include <limits>
#include <optional>

#include "reference/training/peak_memory.h"
#include "reference/training/resumption.h"
#include "reference/training/step.h"
#include "reference/training/stop_signal.h"
#include "reference/training/trials.h"
#include "reference/training/window.h"

namespace dlcheck::reference {
namespace {

Scores EvaluateAndNote(Training& training) {
  const RunLog::Pause pause(*training.files.log);
  const Scores scores = Evaluate(training);
  Counters& counters = training.counters;
  counters.metrics.push_back({counters.step, scores.loss, scores.accuracy});
  training.files.log->WriteEvaluation(counters.step, scores.loss, scores.accuracy);
  return scores;
}

Patience PatienceOf(const Recipe& recipe) {
  return {recipe.patience, recipe.min_delta,
          recipe.patience_rule == "reached" ? Patience::Rule::kReached : Patience::Rule::kExceeded};
}

// `logs` as it was before the step was counted.
void Report(Training& training, int64_t step, bool logs) {
  Counters& counters = training.counters;
  if (logs) {
    const Ranks& ranks = training.distributed.ranks;
    // Of each rank it is so many times its part of the whole.
    RunLog::Step line{step,
                      training.inputs.batches->PlaceOf(step, 0).epoch,
                      counters.updates,
                      counters.skipped,
                      ranks.Sum(counters.window_loss) / static_cast<double>(ranks.world()),
                      {},
                      std::numeric_limits<double>::quiet_NaN(),
                      training.scaler->scale(),
                      ranks.Sum(training.seen.samples),
                      ranks.Sum(training.seen.tokens),
                      PeakMemory(training.device)};
    for (const auto& group : training.optimizer->groups()) line.rates.push_back(group.lr);
    if (training.gradient_norm.defined()) {
      line.gradient_norm = training.gradient_norm.item<double>();
    }
    training.files.log->Write(line);
    training.seen = {};
  }
  counters.window_loss = 0;
}

// Whether the run is to end here. Counts the micro-batches of this process, for stop-after.
class Stops {
 public:
  Stops(const Plan& plan, const Counters& counters, const Ranks& ranks)
      : plan_(plan), counters_(counters), ranks_(ranks) {}
  bool AfterOne() {
    ++done_;
    if (!ranks_.are_many()) signal_ = StopSignal::Came();
    return Now();
  }
  // Between two steps. A signal that came to one rank came to all.
  void Agree() { signal_ = static_cast<int>(ranks_.Largest(StopSignal::Came())); }
  bool Now() const {
    const int64_t after = plan_.recipe.stop_after;
    return signal_ != 0 || (after > 0 && done_ >= after) ||
           (plan_.stop_at_step && counters_.step >= *plan_.stop_at_step);
  }
  Ended Reason() const { return signal_ != 0 ? Ended::kSignal : Ended::kStopAfter; }

 private:
  const Plan& plan_;
  const Counters& counters_;
  const Ranks& ranks_;
  int64_t done_ = 0;
  int signal_ = 0;
};

int64_t EpochOf(const Training& training, int64_t step) {
  return training.inputs.batches->PlaceOf(step, 0).epoch;
}

void TellEpoch(const Training& training) {
  const int64_t step = training.counters.step;
  const int64_t epoch = EpochOf(training, step);
  const bool is_new = step == 0 || EpochOf(training, step - 1) != epoch;
  if (is_new) Tell(training.observer.epoch, epoch);
}

void ShowState(Training& training) {
  const Observer& observer = training.observer;
  if (observer.wants_state && observer.wants_state()) observer.state(StateOf(PartsOf(training)));
  constexpr int64_t kTrialStep = 4;  // the head has moved, should it have begun at zero
  if (training.plan.runs_trials && training.counters.step == kTrialStep) RunTrials(training);
}

// False if the run stopped inside the window.
bool DoStep(Training& training, Stops& stops) {
  const int64_t step = training.counters.step;
  TellEpoch(training);
  Run(training.plan.phases.step_begins, training);
  if (!RunWindow(training, [&] { return stops.AfterOne(); })) return false;
  stops.AfterOne();
  const bool logs = training.LogsStep();
  TakeStep(training);
  Report(training, step, logs);
  training.progress.Stepped(step, training.counters);
  return true;
}

bool SavesAfter(const Recipe& recipe, int64_t step) {
  return step == recipe.steps ||
         (recipe.checkpoint_every > 0 && step % recipe.checkpoint_every == 0);
}

// Steps until the run ends, one way or another; everything but what comes at the end.
TrainingResult RunSteps(Training& training) {
  const Recipe& recipe = training.plan.recipe;
  Counters& counters = training.counters;
  Stops stops(training.plan, counters, training.distributed.ranks);
  TrainingResult result;
  while (counters.step < recipe.steps) {
    training.distributed.ranks.At(counters.step);
    ShowState(training);
    if (counters.step % recipe.evaluate_every == 0 && !counters.evaluated()) {
      result.scores = EvaluateAndNote(training);
      training.progress.Evaluated(counters.step, result.scores.loss, result.scores.accuracy);
    }
    if (StopsEarly(counters.metrics, PatienceOf(recipe))) {
      result.ended = Ended::kPatience;
      result.scores = {counters.metrics.back().loss, counters.metrics.back().accuracy};
      result.all_saved = SaveCheckpoint(training);
      return result;
    }
    const bool is_whole = DoStep(training, stops);
    if (is_whole) stops.Agree();
    const bool stopped = stops.Now() && counters.step < recipe.steps;
    if (stopped || SavesAfter(recipe, counters.step)) result.all_saved = SaveCheckpoint(training);
    if (!is_whole || stopped) {
      result.ended = stops.Reason();
      return result;
    }
  }
  return result;
}

}  // namespace

TrainingResult Train(Training& training) {
  // Without a folder there is nothing to save, and a signal ends the process as it always does.
  std::optional<StopSignal> signals;
  if (!training.plan.recipe.checkpoints.empty()) signals.emplace();
  TrainingResult result = RunSteps(training);
  if (result.ended != Ended::kAllSteps) return result;
  const MetricTable& metrics = training.counters.metrics;
  result.scores = training.counters.evaluated()
                      ? Scores{metrics.back().loss, metrics.back().accuracy}
                      : EvaluateAndNote(training);
  PruneCheckpoints(training);
  return result;
}

}  // namespace dlcheck::reference

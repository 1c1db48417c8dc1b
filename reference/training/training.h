// Everything that one run works on, built from its plan.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reference/checkpoint/durable_file.h"
#include "reference/checkpoint/snapshot.h"
#include "reference/distributed/ddp/gradient_sharing.h"
#include "reference/distributed/process_group/ranks.h"
#include "reference/distributed/zero/sharded_parameters.h"
#include "reference/distributed/zero/shards.h"
#include "reference/models/losses.h"
#include "reference/models/models.h"
#include "reference/optimization/averaging.h"
#include "reference/optimization/optimizers.h"
#include "reference/optimization/schedules.h"
#include "reference/precision/loss_scaler.h"
#include "reference/training/counters.h"
#include "reference/training/load_data.h"
#include "reference/training/observer.h"
#include "reference/training/plan.h"
#include "reference/training/progress.h"
#include "reference/training/run_log.h"
#include "reference/training/sharing.h"

namespace dlcheck::reference {

// Where batches come from.
struct Inputs {
  Dataset data;
  std::unique_ptr<Batches> batches;
  std::unique_ptr<Prefetch> prefetch;
  Window window = {};  // of the step that is under way
};

// What stands between this rank and the others.
struct Distributed {
  Ranks ranks;
  NormOfAll norm_of_all;                                  // none where no gradient is sharded
  std::unique_ptr<Shards> shards;                         // none where every rank keeps everything
  std::unique_ptr<ShardedParameters> sharded_parameters;  // none where the model stays whole
  std::unique_ptr<GradientSharing> sharing;               // none of a run that is alone

  // Where the model's parameters are sharded, and none where it is whole.
  const Shards* model_shards() const { return sharded_parameters ? shards.get() : nullptr; }
};

// What the run writes. All empty until it is known where the run begins.
struct RunFiles {
  std::unique_ptr<RunLog> log;
  std::map<std::string, std::string> deciding;  // what a checkpoint must share with this run
  std::unique_ptr<FolderLock> lock;             // of the folder of checkpoints
};

// By this rank since the last line of the log.
struct Seen {
  double samples = 0, tokens = 0;
};

struct Training {
  const Plan plan;
  const Observer& observer;
  at::Device device;
  Inputs inputs;
  Distributed distributed;

  Model model;
  LossOptions loss;
  at::ScalarType autocast;  // of forward passes; kFloat: none
  std::unique_ptr<Optimizer> optimizer;
  std::vector<double> base_rates;  // by group, what schedules multiply
  Schedule schedule;
  Schedule asked_schedule;             // as the recipe has it, whatever a fault makes of it
  std::unique_ptr<LossScaler> scaler;  // enabled or not, there is one
  std::unique_ptr<Average> average;    // none without ema-decay

  Progress progress;
  RunFiles files = {};
  Counters counters = {};
  Seen seen = {};
  bool took_step = false;            // false if the last step was skipped
  torch::Tensor gradient_norm = {};  // of the last step, where clipping computed it

  bool scaler_is_on() const { return ScalesLoss(plan.recipe); }
  // Whether the step that is under way gets a line in the log.
  bool LogsStep() const {
    return !plan.recipe.log.empty() && counters.step % plan.recipe.log_every == 0;
  }
};

// Of the weights, and of the inputs that they meet; with autocast some are cast on the way.
at::ScalarType WeightType(const Recipe& recipe);

// Reads the data and makes the rest, in the order in which random numbers are drawn: weights by
// their own seed, then dropout by its own, which is another on each rank. All ranks call. Errors:
// UsageError, InputRejected.
Training BuildTraining(const Plan& plan, const Observer& observer, const Ranks& ranks);

// All state of the run, part by part. `training` outlives the result.
std::vector<StatePart> PartsOf(Training& training);

}  // namespace dlcheck::reference

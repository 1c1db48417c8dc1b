#include <stdlib.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "reference/checkpoint/durable_file.h"
#include "reference/faults/planters.h"
#include "reference/faults/step_faults.h"

namespace dlcheck::reference {
namespace {

template <AverageDeviation kDeviation>
void PlantAverage(Plan& plan) {
  plan.recipe.ema_decay = 0.9;
  plan.deviations.average = kDeviation;
}

// Everything that a run can have to forget.
void NeedAllState(Plan& plan) {
  Recipe& recipe = plan.recipe;
  recipe.model = "mlp";
  recipe.optimizer = "adamw";
  recipe.schedule = "cosine";
  recipe.dropout = 0.2;
  recipe.ema_decay = 0.9;
  recipe.autocast = "fp16";
  recipe.loss_scale = "on";
  recipe.growth_interval = 10;
  recipe.steps = std::max<int64_t>(recipe.steps, 100);
}

template <const char* kPart>
void PlantForgotten(Plan& plan) {
  NeedAllState(plan);
  plan.deviations.forgotten = {kPart};
}

constexpr char kModel[] = "model", kOptimizer[] = "optimizer", kScaler[] = "scaler",
               kAverage[] = "average", kRandom[] = "random", kCounters[] = "counters",
               kMetrics[] = "metrics";

// A folder that goes when the last copy of the plan does.
class PassingFolder {
 public:
  PassingFolder() : path_("/tmp/dlcheck-fault-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make a folder in /tmp");
  }
  ~PassingFolder() {
    for (const std::string& name : NamesIn(path_)) RemoveFolder(path_ + "/" + name);
    RemoveFolder(path_);
  }
  PassingFolder(const PassingFolder&) = delete;
  PassingFolder& operator=(const PassingFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void PlantModelSavedInBf16(Plan& plan) { PlantSavedInBf16(plan, "model"); }

void PlantStatisticsLearn(Plan& plan) {
  plan.recipe.model = "resnet";
  LearnStatisticsInEvaluation(plan);
}

template <Edit kEdit>
void PlantEvaluation(Plan& plan) {
  plan.recipe.model = "mlp";
  plan.recipe.dropout = 0.2;
  plan.recipe.evaluate_every = 30;
  kEdit(plan);
}

template <AttentionDeviation kDeviation>
void PlantAttention(Plan& plan) {
  NeedGpt(plan);
  plan.deviations.attention = kDeviation;
}

void PlantTiedHeadCopied(Plan& plan) {
  NeedGpt(plan);
  plan.recipe.tie_embeddings = true;
  plan.deviations.tying = TyingDeviation::kHeadIsAClone;
}

}  // namespace

void NeedGpt(Plan& plan) {
  Recipe& recipe = plan.recipe;
  recipe.model = "gpt";
  recipe.optimizer = "adamw";
  recipe.width = 32;
  recipe.depth = 2;
  recipe.heads = 2;
  recipe.context = 32;
  recipe.batch_size = 8;
  recipe.steps = std::min<int64_t>(recipe.steps, 100);
  recipe.evaluate_samples = 32;
}

void PlantSavedInBf16(Plan& plan, const char* part) {
  plan.deviations.saved_in_bf16 = part;
  plan.recipe.checkpoint_every = 50;
  if (!plan.recipe.checkpoints.empty()) return;
  const auto folder = std::make_shared<PassingFolder>();
  plan.recipe.checkpoints = folder->path();
  plan.step_begins = [folder](int64_t) {};
}

Planters StateFaults() {
  using F = FaultName;
  return {
      {F::kAverageNeverUpdated, PlantAverage<AverageDeviation::kNeverUpdated>},
      {F::kAverageWithoutMemory, PlantAverage<AverageDeviation::kAlwaysFirst>},
      {F::kForgetsModel, PlantForgotten<kModel>},
      {F::kForgetsOptimizer, PlantForgotten<kOptimizer>},
      {F::kForgetsScaler, PlantForgotten<kScaler>},
      {F::kForgetsAverage, PlantForgotten<kAverage>},
      {F::kForgetsRandom, PlantForgotten<kRandom>},
      {F::kForgetsCounters, PlantForgotten<kCounters>},
      {F::kForgetsMetrics, PlantForgotten<kMetrics>},
      {F::kSavedInBf16, PlantModelSavedInBf16},
      {F::kStatisticsLearn, PlantStatisticsLearn},
      {F::kEvaluatesInTraining, PlantEvaluation<EvaluateInTrainingMode>},
      {F::kStaysInEvaluation, PlantEvaluation<StayInEvaluationMode>},
      {F::kMaskOffByOne, PlantAttention<AttentionDeviation::kSeesNextToken>},
      {F::kNoMask, PlantAttention<AttentionDeviation::kNoMask>},
      {F::kTiedHeadCopied, PlantTiedHeadCopied},
  };
}

}  // namespace dlcheck::reference

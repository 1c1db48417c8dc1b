// training: the whole trainer. Parameters: keys of the recipe by their names, `deviation`, and
// `world`, ranks that train together; the first of them puts out, and each its `RANK/buffer/NAME`.
// Puts out `losses`, one a micro-batch, in float32; `gradient/NAME`, as the first step takes them;
// `final/NAME`; with an average `average/NAME`; with a scaler `scale`. With `record`, instead,
// `initial/NAME`, and each micro-batch as `x/STEP/MICRO` and `y/STEP/MICRO`, or, of many ranks, as
// `RANK/x/STEP/MICRO` and so on.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "reference/distributed/process_group/thread_ranks.h"
#include "reference/faults/step_faults.h"
#include "reference/training/loop.h"
#include "reference/training/resumption.h"
#include "tests/pytorch_parity/subject/subject.h"

namespace dlcheck::reference {
namespace {

Plan PlanOf(const Case& run) {
  Plan plan;
  for (const Key& key : Keys()) {
    const std::string text = run.Text(key.name, "");
    if (!text.empty()) Assign(plan.recipe, key, text);
  }
  plan.recipe.evaluate_every = 1000000;
  plan.recipe.evaluate_samples = 16;
  Deviations& deviations = plan.deviations;
  const std::string name = run.Text("deviation", "none");
  using R = RanksDeviation;
  if (name == "not_divided") DivideByMicroBatch(plan);
  if (name == "divided_twice") DivideTwice(plan);
  if (name == "mean_of_means") TakeMeanOfMeans(plan);
  if (name == "full_window") DivideByFullWindow(plan);
  if (name == "cleared_inside_window") ClearInsideWindow(plan);
  if (name == "clipped_before_unscale") ClipBeforeUnscale(plan);
  if (name == "not_unscaled") StepWithoutUnscale(plan);
  if (name == "mean_of_rank_means") deviations.ranks = R::kMeanOfRankMeans;
  if (name == "scaled_by_world") deviations.ranks = R::kScaledByWorld;
  if (name == "shared_too_early") deviations.ranks = R::kSharedTooEarly;
  if (name == "own_buffers") deviations.ranks = R::kOwnBuffers;
  if (name == "same_rows") deviations.ranks = R::kSameRows;
  if (name == "own_norm_gradients") deviations.ranks = R::kOwnNormGradients;
  if (name == "not_put_together") deviations.ranks = R::kNotPutTogether;
  if (name == "norm_of_part") deviations.ranks = R::kNormOfPart;
  if (name == "own_infinity") deviations.ranks = R::kOwnInfinity;
  if (name == "first_group_alone") ScheduleFirstGroupAlone(plan);
  if (name == "one_step_ahead") deviations.schedule = ScheduleDeviation::kOneAhead;
  if (name == "autocast_left_out") deviations.autocast_left_out = true;
  if (name == "average_never_updated") deviations.average = AverageDeviation::kNeverUpdated;
  if (name == "epsilon_inside_root") deviations.optimizer = OptimizerDeviation::kEpsilonInsideRoot;
  if (name == "statistics_from_validation") LearnStatisticsInEvaluation(plan);
  return plan;
}

void PutAll(Case& run, const std::string& prefix, const torch::nn::Module& module) {
  for (const auto& parameter : module.named_parameters()) {
    run.Put(prefix + parameter.key(), parameter.value());
  }
  for (const auto& buffer : module.named_buffers()) run.Put(prefix + buffer.key(), buffer.value());
}

// What the trainer is given, for a twin to train on the same.
void Record(Case& run, const Ranks& ranks, Observer& observer) {
  const std::string own = ranks.are_many() ? std::to_string(ranks.rank()) + "/" : "";
  const auto step = std::make_shared<int64_t>(0), micro = std::make_shared<int64_t>(0);
  observer.model = [&run](torch::nn::Module& module) { PutAll(run, "initial/", module); };
  observer.batch = [&run, own, step, micro](const torch::Tensor& x, const torch::Tensor& y) {
    const std::string place = std::to_string(*step) + "/" + std::to_string((*micro)++);
    run.Put(own + "x/" + place, x);
    run.Put(own + "y/" + place, y);
  };
  observer.after_step = [step, micro](bool) {
    ++*step;
    *micro = 0;
  };
}

void PutFirstGradients(Case& run, const torch::nn::Module& module) {
  if (run.outputs().count("gradient/head.weight") > 0) return;
  for (const auto& parameter : module.named_parameters()) {
    // Where it is shared out there is no whole one.
    if (parameter.value().grad().defined()) {
      run.Put("gradient/" + parameter.key(), parameter.value().grad());
    }
  }
}

// Answers go over standard output, so the trainer's own lines must not.
class Quiet {
 public:
  Quiet() : output_(dup(STDOUT_FILENO)) {
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    close(nowhere);
  }
  ~Quiet() {
    std::fflush(stdout);
    dup2(output_, STDOUT_FILENO);
    close(output_);
  }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  int output_;
};

}  // namespace

namespace {

// The model as it is now, where ranks share it out.
void PutTogether(Training& training) {
  if (!training.distributed.sharded_parameters) return;
  training.distributed.sharded_parameters->Refresh();
  training.distributed.sharded_parameters->Gather();
}

void Train(Case& run, const Plan& plan, const Ranks& ranks) {
  Observer observer;
  std::vector<torch::Tensor> losses;
  torch::nn::Module* module = nullptr;
  if (run.Flag("record")) {
    Record(run, ranks, observer);
  } else {
    observer.loss = [&](const torch::Tensor& loss, const torch::Tensor&, const torch::Tensor&) {
      losses.push_back(loss.detach().clone());
    };
    observer.before_step = [&] { PutFirstGradients(run, *module); };
  }
  Training training = BuildTraining(plan, observer, ranks);
  module = training.model.module.get();
  Tell(observer.model, *training.model.module);
  Begin(training);
  dlcheck::reference::Train(training);
  if (run.Flag("record")) return;
  for (const auto& buffer : training.model.module->named_buffers()) {
    if (!ranks.are_many()) break;
    run.Put(std::to_string(ranks.rank()) + "/buffer/" + buffer.key(), buffer.value());
  }
  const bool is_put_together = plan.deviations.ranks != RanksDeviation::kNotPutTogether;
  if (is_put_together) PutTogether(training);
  if (ranks.is_first()) PutAll(run, "final/", *module);
  if (training.average) {
    training.average->Exchange();
    PutTogether(training);
    for (const auto& parameter : module->named_parameters()) {
      if (ranks.is_first()) run.Put("average/" + parameter.key(), parameter.value());
    }
  }
  if (!ranks.is_first()) return;
  run.Put("losses", torch::stack(losses));
  if (training.scaler_is_on()) run.Put("scale", torch::tensor(training.scaler->scale()));
}

}  // namespace

void Trained(Case& run) {
  const Quiet quiet;
  const Plan plan = PlanOf(run);
  const int64_t world = run.Integer("world", 1);
  if (world == 1) return Train(run, plan, Ranks());
  RunThreadRanks(world, [&](const Ranks& ranks) { Train(run, plan, ranks); });
}

}  // namespace dlcheck::reference

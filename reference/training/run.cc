#include "reference/training/run.h"

#include <cstdio>
#include <optional>
#include <utility>

#include "reference/checkpoint/durable_file.h"
#include "reference/training/config_agreement.h"
#include "reference/training/evaluate.h"
#include "reference/training/memory_report.h"
#include "reference/training/resumption.h"
#include "reference/training/weights_file.h"

namespace dlcheck::reference {
namespace {

void TellAll(Training& training) {
  const Observer& observer = training.observer;
  if (observer.declared) {
    for (const Key& key : Keys()) observer.declared(key.name, Spelled(training.plan.recipe, key));
    observer.declared("accumulation", "mean");
    observer.declared("clip", training.plan.recipe.gradient_clip_algorithm);
  }
  if (training.distributed.ranks.are_many()) {
    Tell(observer.ranks, training.distributed.ranks.rank(), training.distributed.ranks.world(),
         training.plan.recipe.zero_stage == 0);
  }
  Tell(observer.model, *training.model.module);
  for (const auto& [one, other] : training.model.tied) Tell(observer.tied, one, other);
  Tell(observer.optimizer, *training.optimizer);
}

void TellEnd(Training& training, const TrainingResult& result, const std::optional<Scores>& test) {
  const Counters& counters = training.counters;
  if (result.ended == Ended::kSignal || result.ended == Ended::kStopAfter) {
    std::printf("stopped at step %lld; --resume goes on from there\n",
                static_cast<long long>(counters.step));
    std::fflush(stdout);
    return;
  }
  training.progress.Finished(counters, result.scores.loss, result.scores.accuracy);
  if (test) {
    std::printf("%s\n", ScoresText("test", test->loss, test->accuracy).c_str());
  }
  if (result.ended == Ended::kPatience)
    std::printf("no improvement, or no finite loss: stopped early\n");
  if (const std::optional<int64_t> best = BestCheckpoint(training)) {
    std::printf("best checkpoint: step %lld\n", static_cast<long long>(*best));
  }
}

}  // namespace

Outcome RunPlan(const Plan& plan, const Observer& observer, const Ranks& ranks) {
  std::optional<MemoryReport> memory;
  if (plan.recipe.report_memory) memory.emplace();
  RequireSameConfig(ranks, plan.recipe);
  Training training = BuildTraining(plan, observer, ranks);
  TellAll(training);
  Begin(training);
  const TrainingResult result = Train(training);
  const bool is_over = result.ended == Ended::kAllSteps || result.ended == Ended::kPatience;
  std::optional<Scores> test;
  if (is_over && training.inputs.data.test) test = EvaluateTestSplit(training);
  if (ranks.is_first() && !plan.is_silent) TellEnd(training, result, test);
  if (is_over && !plan.recipe.export_to.empty()) ExportWeights(training, plan.recipe.export_to);
  if (memory) {
    constexpr double kMebibyte = 1 << 20;
    if (ranks.are_many()) std::printf("rank %lld: ", static_cast<long long>(ranks.rank()));
    std::printf("tensors held %.2f MiB at most\n",
                static_cast<double>(memory->peak_bytes()) / kMebibyte);
  }
  if (!plan.recipe.save.empty()) SaveState(training, plan.recipe.save);
  if (!result.all_saved) throw SavingFailed("the last checkpoint could not be written");
  return {result.ended,
          result.scores,
          training.model,
          training.counters,
          std::move(training.distributed.shards),
          std::move(training.distributed.sharded_parameters)};
}

}  // namespace dlcheck::reference

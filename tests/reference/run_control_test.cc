// When a run stops, which checkpoints it keeps, what it logs and how much memory it says it took.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "reference/checkpoint/checkpoint_folder.h"
#include "reference/checkpoint/durable_file.h"
#include "reference/recipe/rejection.h"
#include "reference/training/memory_report.h"
#include "reference/training/metrics.h"
#include "tests/reference/runs.h"

namespace dlcheck::reference {
namespace {

using testing::ElementsAre;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Plan PlanIn(const std::string& folder) {
  Plan plan = DigitsPlan();
  plan.recipe.steps = 40;
  plan.recipe.evaluate_every = 5;
  plan.recipe.evaluate_samples = 64;
  plan.recipe.checkpoints = testing::TempDir() + "/" + folder;
  for (const std::string& name : NamesIn(plan.recipe.checkpoints)) {
    RemoveFolder(plan.recipe.checkpoints + "/" + name);
  }
  return plan;
}

std::vector<int64_t> StepsIn(const Plan& plan) {
  std::vector<int64_t> steps;
  for (const auto& place : CheckpointFolder(plan.recipe.checkpoints).List()) {
    steps.push_back(place.step);
  }
  return steps;
}

TEST(Run, StopsEarlyOnceItNoLongerImproves) {
  Plan plan = PlanIn("patience");
  plan.recipe.lr = 1e-9;  // no two evaluations differ by the delta
  plan.recipe.patience = 3;
  plan.recipe.min_delta = 0.01;
  const Outcome outcome = RunPlan(plan, {});
  EXPECT_EQ(outcome.ended, Ended::kPatience);
  EXPECT_EQ(outcome.counters.step, 15);
  EXPECT_THAT(StepsIn(plan), ElementsAre(15));
}

TEST(Run, KeepsTheLastAndTheBestCheckpoints) {
  Plan plan = PlanIn("kept");
  plan.recipe.checkpoint_every = 5;
  plan.recipe.keep_last = 2;
  plan.recipe.keep_best = 2;
  // Diverges in its second half, so that the best are not the last.
  plan.loss = [](int64_t step, const torch::Tensor& loss) { return step < 20 ? loss : -loss; };
  const Outcome outcome = RunPlan(plan, {});
  std::vector<int64_t> wanted = BestSteps(outcome.counters.metrics, 2);
  EXPECT_LT(wanted.front(), 35);
  wanted.insert(wanted.end(), {35, 40});
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(StepsIn(plan), wanted);
}

// Evaluations at steps that have no checkpoint must not take the place of those that have one.
TEST(Run, KeepsTheBestOfWhatWasSaved) {
  Plan plan = PlanIn("saved");
  plan.recipe.evaluate_every = 1;
  plan.recipe.steps = 12;
  plan.recipe.checkpoint_every = 4;
  plan.recipe.keep_best = 2;
  plan.loss = [](int64_t, const torch::Tensor& loss) { return -loss; };  // every step is worse
  RunPlan(plan, {});
  EXPECT_THAT(StepsIn(plan), ElementsAre(4, 8, 12));
}

TEST(Run, SaysTheScoresOfARunThatHadStoppedBefore) {
  Plan plan = PlanIn("again");
  plan.recipe.lr = 1e-9;
  plan.recipe.patience = 1;
  plan.recipe.min_delta = 5;
  const Scores first = RunPlan(plan, {}).scores;
  plan.recipe.resume = true;
  EXPECT_EQ(RunPlan(plan, {}).scores.loss, first.loss);
  EXPECT_GT(first.loss, 0);
}

TEST(Run, RefusesToGoOnToFewerStepsThanAreDone) {
  Plan plan = PlanIn("fewer");
  RunPlan(plan, {});
  plan.recipe.resume = true;
  plan.recipe.steps = 20;
  EXPECT_THROW(RunPlan(plan, {}), UsageError);
}

TEST(Run, LeavesAFileThatIsNoLogAlone) {
  Plan plan = PlanIn("no-log");
  plan.recipe.log = testing::TempDir() + "/notes.md";
  std::ofstream(plan.recipe.log) << "notes\n";
  EXPECT_THROW(RunPlan(plan, {}), UsageError);
  EXPECT_EQ(ReadWhole(plan.recipe.log), "notes\n");
}

TEST(Run, HasItsFolderForItself) {
  Plan plan = PlanIn("locked");
  MakeFolders(plan.recipe.checkpoints);
  const FolderLock other(plan.recipe.checkpoints);
  EXPECT_THROW(RunPlan(plan, {}), UsageError);
}

TEST(Run, LeavesOutAndCountsStepsThatAreNotFinite) {
  Plan plan = PlanIn("skipped");
  plan.recipe.nonfinite = "skip";
  plan.recipe.ema_decay = 0.9;
  plan.recipe.schedule = "linear";
  plan.loss = [](int64_t step, const torch::Tensor& loss) {
    return step == 7 || step == 8 ? loss * kNan : loss;
  };
  std::vector<bool> taken;
  Observer observer;
  observer.after_step = [&](bool step_taken) { taken.push_back(step_taken); };
  const Outcome outcome = RunPlan(plan, observer);
  EXPECT_EQ(outcome.counters.skipped, 2);
  EXPECT_EQ(outcome.counters.updates, 38);
  EXPECT_FALSE(taken[7] || taken[8]);
  EXPECT_TRUE(taken[6] && taken[9]);
  for (const torch::Tensor& weight : WeightsOf(outcome)) {
    EXPECT_TRUE(weight.isfinite().all().item<bool>());
  }
}

TEST(Run, LogsALineForEverySoManyStepsAndEveryEvaluation) {
  Plan plan = PlanIn("logged");
  plan.recipe.log = testing::TempDir() + "/log.jsonl";
  plan.recipe.log_every = 10;
  plan.recipe.gradient_clip_algorithm = "norm";
  RunPlan(plan, {});
  std::ifstream file(plan.recipe.log);
  std::vector<int64_t> steps, evaluations;
  for (std::string line; std::getline(file, line);) {
    const auto json = nlohmann::json::parse(line);
    EXPECT_TRUE(json["seconds"].is_number());
    (json.contains("val_loss") ? evaluations : steps).push_back(json["step"]);
    if (json.contains("val_loss")) continue;
    EXPECT_GT(json["loss"], 0);
    EXPECT_GT(json["gradient_norm"], 0);
    EXPECT_EQ(json["rates"].size(), 2u);
    EXPECT_GT(json["samples_per_second"], 0);
    EXPECT_TRUE(json["tokens_per_second"].is_null());
    EXPECT_GT(json["peak_memory"], int64_t{1} << 20);
  }
  EXPECT_THAT(steps, ElementsAre(0, 10, 20, 30));
  EXPECT_THAT(evaluations, ElementsAre(0, 5, 10, 15, 20, 25, 30, 35, 40));
}

TEST(MemoryReport, CountsWhatIsHeldAtOnce) {
  const MemoryReport report;
  for (int i = 0; i < 3; ++i) torch::zeros({256, 1024});
  EXPECT_GE(report.peak_bytes(), int64_t{1} << 20);
  EXPECT_LT(report.peak_bytes(), int64_t{2} << 20);
  const torch::Tensor one = torch::zeros({256, 1024}), other = torch::zeros({256, 1024});
  EXPECT_GE(report.peak_bytes(), int64_t{2} << 20);
}

int64_t PeakOf(bool recomputes) {
  Plan plan = DigitsPlan();
  plan.recipe.data = DLCHECK_BINARY_DIR "/share/dlcheck/fixtures/text.h5";
  plan.recipe.model = "gpt";
  plan.recipe.steps = 2;
  plan.recipe.evaluate_samples = 1;
  plan.recipe.depth = 6;
  plan.recipe.width = 64;
  plan.recipe.batch_size = 16;
  plan.recipe.activation_checkpointing = recomputes;
  const MemoryReport report;
  RunPlan(plan, {});
  return report.peak_bytes();
}

TEST(MemoryReport, IsLowerByHalfWithActivationCheckpoints) {
  EXPECT_LT(2 * PeakOf(true), PeakOf(false));
}

}  // namespace
}  // namespace dlcheck::reference

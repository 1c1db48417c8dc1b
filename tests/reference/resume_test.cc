// G24 and G26: a run that is interrupted anywhere and goes on is bit for bit the run that was not.
// Each half is a run of its own, from the plan up; what passes from one to the other is the
// checkpoint alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "reference/checkpoint/durable_file.h"
#include "reference/checkpoint/tensor_file.h"
#include "reference/recipe/rejection.h"
#include "tests/reference/runs.h"

namespace dlcheck::reference {
namespace {

constexpr int64_t kSteps = 20;

using Change = std::function<void(Plan&)>;
constexpr auto kNoChange = [](Plan&) {};

// Removed by hand: LibTorch's copy of std::filesystem cannot remove a tree.
void RemoveTree(const std::string& path) {
  for (const std::string& name : NamesIn(path)) RemoveFolder(path + "/" + name);
  RemoveFolder(path);
}

// Everything that a step can depend on is on: dropout, averages, scaler, schedule, accumulation
// with ragged windows, clipping, a new order each epoch, evaluations between.
Plan PlanOf(const std::string& model, const std::string& folder) {
  Plan plan = DigitsPlan();
  Recipe& recipe = plan.recipe;
  recipe.model = model;
  recipe.optimizer = "adamw";
  recipe.weight_decay = 0.1;
  recipe.steps = kSteps;
  recipe.evaluate_every = 5;
  recipe.evaluate_samples = 32;
  recipe.dropout = 0.2;
  recipe.ema_decay = 0.9;
  recipe.autocast = "fp16";
  recipe.loss_scale = "on";
  recipe.initial_scale = 1 << 24;  // meets what fp16 cannot hold, so that steps are left out
  recipe.growth_interval = 3;
  recipe.schedule = "cosine";
  recipe.warmup_steps = 4;
  recipe.gradient_clip_algorithm = "norm";
  recipe.gradient_clip_val = 0.5;
  recipe.gradient_accumulation_steps = 3;
  recipe.batch_size = 150;  // an epoch is three windows, the last ragged
  recipe.drop_last = false;
  recipe.log_every = 1;
  recipe.log = folder + ".jsonl";
  recipe.checkpoints = folder;
  if (model == "gpt") {
    recipe.data = DLCHECK_BINARY_DIR "/share/dlcheck/fixtures/text.h5";
    recipe.width = 16;
    recipe.depth = 2;
    recipe.heads = 2;
    recipe.context = 8;
    recipe.batch_size = 4;
    recipe.activation_checkpointing = true;
  }
  return plan;
}

// Keeps what runs print to itself.
class Quiet {
 public:
  Quiet() { testing::internal::CaptureStdout(); }
  ~Quiet() { testing::internal::GetCapturedStdout(); }
};

// The log without what is measured.
std::vector<nlohmann::json> LinesOf(const std::string& path) {
  std::ifstream file(path);
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(nlohmann::json::parse(line));
    for (const char* measured :
         {"seconds", "samples_per_second", "tokens_per_second", "peak_memory"}) {
      lines.back().erase(measured);
    }
  }
  return lines;
}

struct Whole {
  std::map<std::string, torch::Tensor> state;  // of the last checkpoint
  std::vector<nlohmann::json> log;
};

std::map<std::string, torch::Tensor> StateAt(const Plan& plan, int64_t step) {
  char name[64];
  std::snprintf(name, sizeof(name), "/step-%09lld/state.safetensors", static_cast<long long>(step));
  const std::string path = plan.recipe.checkpoints + name;
  return TensorsOf(path, ReadWhole(path));
}

std::string FirstDifference(const std::map<std::string, torch::Tensor>& one,
                            const std::map<std::string, torch::Tensor>& other) {
  if (one.size() != other.size()) return "the number of tensors";
  for (const auto& [name, tensor] : one) {
    const auto found = other.find(name);
    if (found == other.end() || !torch::equal(tensor, found->second)) return name;
  }
  return "";
}

Whole Uninterrupted(const std::string& model, const Change& change = kNoChange) {
  const std::string folder = testing::TempDir() + "/whole-" + model;
  RemoveTree(folder);
  Plan plan = PlanOf(model, folder);
  change(plan);
  const Quiet quiet;
  RunPlan(plan, {});
  return {StateAt(plan, kSteps), LinesOf(plan.recipe.log)};
}

// Interrupted after so many micro-batches; nothing if the run has no more than that. `second` may
// make the second half another one, `change` both.
std::optional<Whole> Interrupted(const std::string& model, int64_t micro_batches,
                                 const Change& second = kNoChange,
                                 const Change& change = kNoChange) {
  const std::string folder = testing::TempDir() + "/parts-" + model;
  RemoveTree(folder);
  Plan plan = PlanOf(model, folder);
  change(plan);
  plan.recipe.stop_after = micro_batches;
  const Quiet quiet;
  if (RunPlan(plan, {}).ended == Ended::kAllSteps) {
    return std::nullopt;
  }
  plan.recipe.stop_after = 0;
  plan.recipe.resume = true;
  second(plan);
  // What a fresh process would have is not what this one has: seeds, threads, everything is set by
  // the run itself, or must come from the checkpoint.
  torch::manual_seed(micro_batches);
  RunPlan(plan, {});
  return Whole{StateAt(plan, kSteps), LinesOf(plan.recipe.log)};
}

void ExpectResumesEverywhere(const std::string& model) {
  const Whole whole = Uninterrupted(model);
  EXPECT_GT(whole.state.at("counters/skipped").item<int64_t>(), 0) << "nothing was left out";
  int64_t interruptions = 0;
  while (const auto parts = Interrupted(model, interruptions + 1)) {
    ++interruptions;
    EXPECT_EQ(FirstDifference(whole.state, parts->state), "")
        << model << ", after micro-batch " << interruptions;
    EXPECT_EQ(whole.log, parts->log) << model << ", after micro-batch " << interruptions;
  }
  EXPECT_GE(interruptions, 2 * kSteps)
      << "each step was to be interrupted, and inside its window too";
}

TEST(Resume, OfAnMlpIsExactAtEveryMicroBatch) { ExpectResumesEverywhere("mlp"); }
TEST(Resume, OfAGptIsExactAtEveryMicroBatch) { ExpectResumesEverywhere("gpt"); }

TEST(Resume, WithEveryOptimizerIsExactInsideAWindow) {
  for (const char* optimizer : {"sgd", "adam", "rmsprop", "adagrad", "nadam", "adafactor", "muon",
                                "lion", "lamb", "schedule_free"}) {
    const Change change = [&](Plan& plan) {
      plan.recipe.optimizer = optimizer;
      plan.recipe.amsgrad = std::string(optimizer) == "adam";
      plan.recipe.centered = std::string(optimizer) == "rmsprop";
      if (std::string(optimizer) == "schedule_free") plan.recipe.ema_decay = 0;
    };
    const Whole whole = Uninterrupted("mlp", change);
    const auto parts = Interrupted("mlp", 34, kNoChange, change);
    ASSERT_TRUE(parts) << optimizer;
    EXPECT_EQ(FirstDifference(whole.state, parts->state), "") << optimizer;
    EXPECT_EQ(whole.log, parts->log) << optimizer;
  }
}

TEST(Resume, WithEquallyAveragedWeightsIsExact) {
  const Change change = [](Plan& plan) {
    plan.recipe.ema_decay = 0;
    plan.recipe.swa_start = 3;
    plan.recipe.swa_every = 2;
  };
  const Whole whole = Uninterrupted("mlp", change);
  const auto parts = Interrupted("mlp", 34, kNoChange, change);
  ASSERT_TRUE(parts);
  EXPECT_EQ(FirstDifference(whole.state, parts->state), "");
  EXPECT_EQ(whole.log, parts->log);
  EXPECT_GT(whole.state.at("average/updates").item<int64_t>(), 3);
}

TEST(Resume, OnAPlateauHasTheSameRates) {
  const Change change = [](Plan& plan) {
    plan.recipe.schedule = "plateau";
    plan.recipe.plateau_patience = 0;
    plan.recipe.plateau_threshold = 0.9;  // no evaluation is that much better
    plan.recipe.evaluate_every = 2;
  };
  const Whole whole = Uninterrupted("mlp", change);
  const auto parts = Interrupted("mlp", 34, kNoChange, change);
  ASSERT_TRUE(parts);
  EXPECT_EQ(whole.log, parts->log);
  std::vector<double> rates;
  for (const nlohmann::json& line : whole.log) {
    if (line.contains("rates")) rates.push_back(line.at("rates").at(0).get<double>());
  }
  EXPECT_LT(rates.back(), rates[rates.size() / 2]);
}

// The mutations of G24: each part of the state that is forgotten shows.
TEST(Resume, IsNotExactIfAnyPartIsForgotten) {
  const Whole whole = Uninterrupted("mlp");
  for (const char* part :
       {"model", "optimizer", "scaler", "average", "random", "counters", "metrics", "gradients"}) {
    // Inside a window, where all parts hold something.
    const auto forget = [&](Plan& plan) { plan.deviations.forgotten = {part}; };
    try {
      const auto parts = Interrupted("mlp", 16, forget);
      EXPECT_TRUE(whole.log != parts->log || FirstDifference(whole.state, parts->state) != "")
          << part;
    } catch (const InputRejected&) {
      // Without the counters the run takes no window to be under way, and refuses its gradients.
      EXPECT_EQ(std::string(part), "counters");
    }
  }
}

TEST(Resume, IsRefusedWithAnotherRecipe) {
  for (const auto& change : std::vector<std::pair<std::string, std::function<void(Recipe&)>>>{
           {"lr", [](Recipe& recipe) { recipe.lr = 0.5; }},
           {"beta1", [](Recipe& recipe) { recipe.beta1 = 0.5; }},
           {"seed", [](Recipe& recipe) { recipe.seed = 9; }},
           {"width", [](Recipe& recipe) { recipe.width = 8; }},
           {"horizon", [](Recipe& recipe) { recipe.steps = 40; }}}) {
    try {
      Interrupted("mlp", 7, [&](Plan& plan) { change.second(plan.recipe); });
      ADD_FAILURE() << change.first << " was taken";
    } catch (const InputRejected& rejected) {
      EXPECT_THAT(rejected.what(), testing::HasSubstr("is of another recipe: " + change.first));
    }
  }
}

TEST(Resume, IsRefusedWithOtherDataOfTheSameShapeAndMayMoveIt) {
  const std::string moved = testing::TempDir() + "/moved.h5";
  const std::string bytes = ReadWhole(DLCHECK_SOURCE_DIR "/fixtures/data/digits.h5");
  std::ofstream(moved, std::ios::binary) << bytes;
  const auto with_moved = [&](Plan& plan) { plan.recipe.data = moved; };
  EXPECT_TRUE(Interrupted("mlp", 7, with_moved));
  std::ofstream(moved, std::ios::binary) << bytes << "more";
  EXPECT_THROW(Interrupted("mlp", 7, with_moved), InputRejected);
}

TEST(Resume, MayGoOnForLongerWhereTheScheduleDoesNotDependOnIt) {
  const auto longer = [](Plan& plan) {
    plan.recipe.schedule = "constant";
    plan.recipe.steps = kSteps;
  };
  const std::string folder = testing::TempDir() + "/longer";
  RemoveTree(folder);
  Plan plan = PlanOf("mlp", folder);
  longer(plan);
  const Quiet quiet;
  RunPlan(plan, {});
  const auto whole = StateAt(plan, kSteps);
  RemoveTree(folder);
  plan.recipe.steps = 9;
  RunPlan(plan, {});
  plan.recipe.steps = kSteps;
  plan.recipe.resume = true;
  RunPlan(plan, {});
  EXPECT_EQ(FirstDifference(whole, StateAt(plan, kSteps)), "");
}

}  // namespace
}  // namespace dlcheck::reference

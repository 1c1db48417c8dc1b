#include "reference/recipe/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "reference/optimization/schedules.h"
#include "reference/recipe/command_line.h"
#include "reference/recipe/page.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

using testing::HasSubstr;

CommandLine Read(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "dlcheck-train");
  return ReadCommandLine(static_cast<int>(arguments.size()), arguments.data());
}

// What is thrown for these flags, or "accepted".
std::string RefusalOf(const std::vector<const char*>& arguments) {
  try {
    Read(arguments);
  } catch (const UsageError& error) {
    return error.what();
  } catch (const InputRejected& error) {
    return error.what();
  }
  return "accepted";
}

std::string WriteRecipe(const std::string& text) {
  const std::string path = testing::TempDir() + "/recipe.toml";
  std::ofstream(path) << text;
  return path;
}

std::string RefusalOfFile(const std::string& text) {
  const std::string path = WriteRecipe(text);
  const std::string refusal = RefusalOf({"--recipe", path.c_str()});
  const std::string prefix = "'" + path + "': ";
  EXPECT_EQ(refusal.rfind(prefix, 0), 0u) << refusal;
  return refusal.substr(prefix.size());
}

TEST(Recipe, TakesEveryFlag) {
  const Recipe recipe = Read({"--data",
                              "d.h5",
                              "--model",
                              "resnet",
                              "--optimizer",
                              "adamw",
                              "--lr",
                              "1e-3",
                              "--momentum",
                              "0.5",
                              "--weight-decay",
                              "0.1",
                              "--batch-size",
                              "8",
                              "--steps",
                              "300",
                              "--evaluate-every",
                              "7",
                              "--dropout",
                              "0.2",
                              "--seed",
                              "3",
                              "--threads",
                              "2",
                              "--fault",
                              "zeroed_inputs",
                              "--save",
                              "out.pt"})
                            .recipe;
  EXPECT_EQ(recipe.data, "d.h5");
  EXPECT_EQ(recipe.model, "resnet");
  EXPECT_EQ(recipe.optimizer, "adamw");
  EXPECT_EQ(LearningRate(recipe), 1e-3);
  EXPECT_EQ(recipe.momentum, 0.5);
  EXPECT_EQ(recipe.weight_decay, 0.1);
  EXPECT_EQ(recipe.batch_size, 8);
  EXPECT_EQ(recipe.steps, 300);
  EXPECT_EQ(recipe.evaluate_every, 7);
  EXPECT_EQ(recipe.dropout, 0.2);
  EXPECT_EQ(recipe.seed, 3);
  EXPECT_EQ(recipe.threads, 2);
  EXPECT_EQ(recipe.fault, "zeroed_inputs");
  EXPECT_EQ(recipe.save, "out.pt");
}

TEST(Recipe, LetsFlagsOverrideTheFile) {
  const std::string path = WriteRecipe("lr = 1\nsteps = 5\nmodel = \"resnet\"\n");
  const Recipe recipe = Read({"--recipe", path.c_str(), "--steps", "6"}).recipe;
  EXPECT_EQ(recipe.lr, 1.0);
  EXPECT_EQ(recipe.steps, 6);
  EXPECT_EQ(recipe.model, "resnet");
}

TEST(Recipe, TakesAPluginOrATorchScriptFileByItsPath) {
  EXPECT_FALSE(IsBuiltIn(Read({"--model", "net.pt"}).recipe.model));
  EXPECT_FALSE(IsBuiltIn(Read({"--model", "libnet.so"}).recipe.model));
  EXPECT_FALSE(IsBuiltIn(Read({"--model", "./net"}).recipe.model));
}

TEST(Recipe, RefusesNumbersThatMakeNoSense) {
  EXPECT_EQ(RefusalOf({"--lr", "nan"}), "lr is 'nan'; expected: a finite number above 0");
  EXPECT_EQ(RefusalOf({"--lr", "0"}), "lr is '0'; expected: a finite number above 0");
  EXPECT_EQ(RefusalOf({"--lr", "inf"}), "lr is 'inf'; expected: a finite number above 0");
  EXPECT_EQ(RefusalOf({"--batch-size", "0"}),
            "batch-size is '0'; expected: an integer from 1 to 1000000000");
  EXPECT_EQ(RefusalOf({"--steps", "1.5"}),
            "steps is '1.5'; expected: an integer from 1 to 1000000000");
  EXPECT_EQ(RefusalOf({"--dropout", "1"}), "dropout is '1'; expected: a number from 0 to below 1");
  EXPECT_EQ(RefusalOf({"--momentum=-0.1"}),
            "momentum is '-0.1'; expected: a number from 0 to below 1");
  EXPECT_EQ(RefusalOf({"--seed", "99999999999999999999"}),
            "seed is '99999999999999999999'; expected: an integer, 0 or above");
}

TEST(Recipe, RefusesNamesItDoesNotKnow) {
  EXPECT_EQ(RefusalOf({"--loss", "nll"}),
            "loss is 'nll'; expected: cross_entropy, bce, mse, huber, focal or nt_xent");
  EXPECT_EQ(
      RefusalOf({"--model", "cnn"}),
      "model is 'cnn'; expected: linear, mlp, resnet, vit, gpt, lstm or unet, or the path of a "
      "plugin or a "
      "TorchScript file");
  EXPECT_EQ(RefusalOf({"--batchsize", "3"}),
            "unknown argument '--batchsize'; did you mean '--batch-size'?");
}

// A value that no key of this kind takes, as text of a flag and as TOML of another type.
struct Wrong {
  std::string flag, toml;
};

Wrong WrongFor(const Key& key) {
  const bool takes_any_text =
      std::holds_alternative<Text Recipe::*>(key.member) && key.rule.choices.empty();
  if (takes_any_text) return {"", "3"};
  return {"wholly-wrong", std::holds_alternative<Switch Recipe::*>(key.member) ? "3" : "[1]"};
}

TEST(Recipe, RefusesAWrongValueOfEveryKeyByItsName) {
  for (const Key& key : Keys()) {
    const Wrong wrong = WrongFor(key);
    const std::string flag = std::string("--") + key.name;
    if (!wrong.flag.empty()) {
      EXPECT_EQ(RefusalOf({flag.c_str(), wrong.flag.c_str()}),
                std::string(key.name) + " is 'wholly-wrong'; expected: " + key.rule.expected);
    }
    EXPECT_THAT(RefusalOfFile(std::string(key.name) + " = " + wrong.toml + "\n"),
                HasSubstr(std::string(key.name) + " is "));
  }
}

TEST(Recipe, RefusesNumbersOutOfRangeForEveryKeyThatHasOne) {
  int64_t refused = 0;
  for (const Key& key : Keys()) {
    if (!key.rule.is_good_number(-1) && key.rule.choices.empty() &&
        key.rule.is_good_number(0.5) + key.rule.is_good_number(1) + key.rule.is_good_number(10) >
            0) {
      const std::string argument = std::string("--") + key.name + "=-1";
      EXPECT_EQ(RefusalOf({argument.c_str()}),
                std::string(key.name) + " is '-1'; expected: " + key.rule.expected);
      ++refused;
    }
  }
  EXPECT_GT(refused, 30);
}

TEST(Recipe, TakesWhatItPrintsForEveryKey) {
  for (const Key& key : Keys()) {
    const std::string text = Spelled(Recipe(), key);
    if (text.empty() || text == "none") continue;
    Recipe recipe;
    Assign(recipe, key, text);
    EXPECT_EQ(Spelled(recipe, key), text) << key.name;
  }
}

TEST(Recipe, GivesEachOptimizerItsOwnDefaults) {
  EXPECT_EQ(LearningRate(Read({"--optimizer", "lion"}).recipe), 0.0003);
  EXPECT_EQ(Momentum(Read({"--optimizer", "rmsprop"}).recipe), 0);
  EXPECT_EQ(Momentum(Read({}).recipe), 0.9);
  EXPECT_EQ(Beta2(Read({"--optimizer", "lion"}).recipe), 0.99);
  EXPECT_EQ(Epsilon(Read({"--optimizer", "lamb"}).recipe), 1e-6);
  EXPECT_EQ(Epsilon(Read({"--optimizer", "lamb", "--epsilon", "1e-3"}).recipe), 1e-3);
}

TEST(Recipe, MultipliesRatesByTheFirstPatternInTheName) {
  const Recipe recipe = Read({"--lr-factors", "head=0.1,head.bias=3,trunk=2"}).recipe;
  EXPECT_EQ(RateFactorOf(recipe, "head.bias"), 0.1);
  EXPECT_EQ(RateFactorOf(recipe, "trunk.0.weight"), 2);
  EXPECT_EQ(RateFactorOf(recipe, "embedding"), 1);
}

// What has a horizon is known to the recipe by its name, and to the schedule by its shape.
TEST(Recipe, KnowsWhichSchedulesEndAtAHorizon) {
  for (const std::string& name : ShapeNames()) {
    Recipe recipe;
    recipe.schedule = name;
    Schedule schedule;
    schedule.shape = ShapeFromName(name).value();
    EXPECT_EQ(EndsAtHorizon(recipe), HasHorizon(schedule.shape)) << name;
  }
}

TEST(Recipe, TakesASwitchAlone) {
  EXPECT_TRUE(Read({"--nesterov"}).recipe.nesterov);
  EXPECT_TRUE(Read({"--nesterov", "--steps", "3"}).recipe.nesterov);
  EXPECT_FALSE(Read({"--tie-embeddings", "false"}).recipe.tie_embeddings);
}

TEST(Recipe, TakesTheLastOfTwoFlags) {
  EXPECT_EQ(Read({"--steps", "3", "--steps", "4"}).recipe.steps, 4);
}

TEST(Recipe, ScalesTheLearningRateWithTheSamplesOfAStep) {
  Recipe recipe;
  recipe.lr = 0.1;
  recipe.batch_size = 128;
  recipe.gradient_accumulation_steps = 8;
  EXPECT_DOUBLE_EQ(LearningRate(recipe), 0.1);
  recipe.lr_scaling = "linear";
  EXPECT_DOUBLE_EQ(LearningRate(recipe), 1.6);
  recipe.lr_scaling = "sqrt";
  EXPECT_DOUBLE_EQ(LearningRate(recipe), 0.4);
}

TEST(Recipe, RefusesPairsThatContradictEachOther) {
  const struct {
    std::vector<const char*> arguments;
    const char* refusal;
  } cases[] = {
      {{"--nesterov", "--optimizer", "adam"},
       "nesterov is true, but optimizer is neither sgd nor muon"},
      {{"--amsgrad"}, "amsgrad is true, but optimizer is neither adam nor adamw"},
      {{"--centered"}, "centered is true, but optimizer is not rmsprop"},
      {{"--optimizer", "lamb", "--zero-stage", "1", "--nproc", "2"},
       "zero-stage is set, but optimizer adafactor, muon and lamb look at whole weights"},
      {{"--optimizer", "schedule_free", "--zero-stage", "1", "--nproc", "2"},
       "zero-stage is set, but optimizer schedule_free evaluates averages of whole weights"},
      {{"--optimizer", "muon", "--model", "resnet"},
       "optimizer is muon, but the hidden layers of resnet have no matrices"},
      {{"--optimizer", "schedule_free", "--ema-decay", "0.9"},
       "ema-decay is set, but optimizer schedule_free has averages of its own"},
      {{"--optimizer", "schedule_free", "--weights", "bf16"},
       "weights is bf16, but optimizer schedule_free averages its weights"},
      {{"--schedule", "multi_step"}, "schedule is multi_step, but milestones is not set"},
      {{"--milestones", "5"}, "milestones is set, but schedule is not multi_step"},
      {{"--milestones", "5,x", "--schedule", "multi_step"},
       "milestones: 'x', expected: updates from 1 on, as 100,200"},
      {{"--lr-factors", "head"},
       "lr-factors: 'head', expected: PATTERN=FACTOR with a factor above 0"},
      {{"--lr-factors", "head=0"},
       "lr-factors: 'head=0', expected: PATTERN=FACTOR with a factor above 0"},
      {{"--flip", "--model", "gpt"}, "augmentation is of images, but model takes tokens"},
      {{"--mixup", "0.2", "--loss", "focal"},
       "mixup or cutmix is set, but loss focal takes one class"},
      {{"--cutmix", "1", "--class-weights", "balanced"},
       "mixup or cutmix is set, but class-weights weighs samples of one class"},
      {{"--mixup", "0.2", "--loss", "nt_xent", "--flip"},
       "mixup or cutmix is set, but loss nt_xent and model unet have no targets to mix"},
      {{"--loss", "nt_xent"},
       "loss nt_xent compares two views of an image: set flip or crop-padding"},
      {{"--loss", "nt_xent", "--flip", "--nproc", "2"},
       "loss nt_xent compares the views that one process has, but nproc is more than 1"},
      {{"--model", "unet"}, "loss must be mse or huber, because model unet tells noise"},
      {{"--model", "unet", "--loss", "mse", "--dropout", "0.1"},
       "dropout is set, but model unet has none"},
      {{"--loss", "nt_xent", "--flip", "--head-bias", "prior"},
       "head-bias is prior, but loss nt_xent and model unet tell no classes"},
      {{"--z-loss", "0.1", "--loss", "focal"}, "z-loss is set, but loss is not cross_entropy"},
      {{"--nesterov", "--momentum", "0"}, "nesterov is true, but momentum is 0"},
      {{"--schedule", "one_cycle", "--warmup-steps", "5"},
       "warmup-steps is set, but schedule one_cycle has its own warm-up"},
      {{"--warmup-steps", "600"}, "warmup-steps is not less than steps"},
      {{"--warmup-steps", "50", "--horizon", "50"}, "warmup-steps is not less than horizon"},
      {{"--schedule", "one_cycle", "--horizon", "50"},
       "horizon is less than steps, but schedule one_cycle ends with its horizon"},
      {{"--weights", "bf16", "--autocast", "bf16"}, "weights is bf16, so autocast must be none"},
      {{"--weights", "fp64", "--autocast", "bf16"}, "weights is fp64, so autocast must be none"},
      {{"--master-weights", "false"}, "master-weights is false, but weights is not bf16"},
      {{"--autocast", "fp16", "--loss-scale", "off"},
       "autocast is fp16 and loss-scale is off, so nonfinite must be skip"},
      {{"--shard-group", "2"}, "shard-group is set, but zero-stage is 0"},
      {{"--zero-stage", "1", "--nproc", "4", "--shard-group", "3"},
       "nproc is no multiple of shard-group"},
      {{"--zero-stage", "1", "--shard-group", "1"},
       "shard-group is 1, and one rank alone has nothing to shard"},
      {{"--weights", "bf16", "--compress-gradients", "bf16"},
       "compress-gradients is bf16, but weights is bf16, and so are their gradients"},
      {{"--sync-batchnorm"}, "sync-batchnorm is true, but model is not resnet"},
      {{"--tf32"}, "tf32 is true, but device is cpu"},
      {{"--model", "gpt", "--loss", "mse"},
       "loss must be cross_entropy or focal, because model takes tokens"},
      {{"--model", "gpt", "--width", "30"}, "width is no multiple of heads"},
      {{"--model", "gpt", "--width", "12"},
       "position-embedding is rotary, but width / heads is odd"},
      {{"--model", "gpt", "--head-bias", "prior"},
       "head-bias is prior, but the head of gpt and lstm has no bias"},
      {{"--model", "./x.so", "--dropout", "0.1"}, "dropout is set, but model is a file"},
      {{"--activation-checkpointing"}, "activation-checkpointing is true, but model is not gpt"},
      {{"--loss", "mse", "--label-smoothing", "0.1"},
       "label-smoothing is set, but loss is not cross_entropy"},
      {{"--loss", "mse", "--class-weights", "balanced"},
       "class-weights is set, but loss is neither cross_entropy nor focal"},
      {{"--resume"}, "resume is true, but checkpoints names no folder"},
      {{"--checkpoint-every", "5"}, "checkpoint-every is set, but checkpoints names no folder"},
      {{"--keep-best", "1"}, "keep-best is set, but checkpoints names no folder"},
      {{"--stop-after", "1"}, "stop-after is set, but checkpoints names no folder"},
      {{"--checkpoints", "x", "--keep-best", "1", "--checkpoint-every", "30"},
       "keep-best is set, but checkpoint-every is no multiple of evaluate-every"},
      {{"--ema-buffers"}, "ema-buffers is true, but ema-decay is 0"},
  };
  for (const auto& [arguments, refusal] : cases) EXPECT_EQ(RefusalOf(arguments), refusal);
}

// DLCHECK_UPDATE_GOLDENS=1 writes it again.
TEST(Recipe, PageIsTheCommittedOne) {
  const std::string path = DLCHECK_SOURCE_DIR "/reference/RECIPE.md";
  if (std::getenv("DLCHECK_UPDATE_GOLDENS") != nullptr) std::ofstream(path) << RecipePage();
  std::ifstream file(path);
  const std::string committed{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(committed, RecipePage()) << "make it again: dlcheck-train --print-recipe-page";
}

TEST(Recipe, NamesFileAndKey) {
  EXPECT_EQ(RefusalOfFile("lr = nan\n"), "lr is nan; expected: a finite number above 0");
  EXPECT_EQ(RefusalOfFile("batch-size = 0\n"),
            "batch-size is 0; expected: an integer from 1 to 1000000000");
  EXPECT_EQ(RefusalOfFile("batch-size = \"many\"\n"),
            "batch-size is 'many'; expected: an integer from 1 to 1000000000");
  EXPECT_EQ(RefusalOfFile("steps = 3.0\n"),
            "steps is 3.0; expected: an integer from 1 to 1000000000");
  EXPECT_EQ(RefusalOfFile("stepz = 3\n"), "unknown key 'stepz'; did you mean 'steps'?");
  EXPECT_EQ(RefusalOfFile("wholly-other = 3\n"), "unknown key 'wholly-other'");
}

TEST(Recipe, RefusesAFileThatIsNoToml) {
  EXPECT_THAT(RefusalOfFile("lr = 1\nsteps =\n"), HasSubstr("line 2: "));
  EXPECT_THAT(RefusalOf({"--recipe", "/nowhere.toml"}), HasSubstr("'/nowhere.toml': "));
}

}  // namespace
}  // namespace dlcheck::reference

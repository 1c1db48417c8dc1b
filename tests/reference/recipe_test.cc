#include "reference/recipe/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "reference/recipe/command_line.h"
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

TEST(Recipe, TakesAPluginByItsPath) {
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
  EXPECT_EQ(RefusalOf({"--optimizer", "lamb"}),
            "optimizer is 'lamb'; expected: sgd, adam or adamw");
  EXPECT_EQ(RefusalOf({"--model", "cnn"}),
            "model is 'cnn'; expected: mlp, resnet, gpt, or the path of a plugin");
  EXPECT_EQ(RefusalOf({"--batchsize", "3"}),
            "unknown argument '--batchsize'; did you mean '--batch-size'?");
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

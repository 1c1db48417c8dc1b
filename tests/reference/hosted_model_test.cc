#include "reference/models/hosted_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "reference/recipe/rejection.h"
#include "tests/reference/runs.h"

namespace dlcheck::reference {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string Plugin(const std::string& name) {
  return DLCHECK_BINARY_DIR "/tests/plugins/lib" + name + ".so";
}

// Why a plugin is refused; holds that the message names it.
std::string CauseOf(const std::string& path) {
  try {
    HostModel(path, {1, 8, 8}, 10);
  } catch (const InputRejected& rejection) {
    EXPECT_EQ(rejection.file, path);
    EXPECT_EQ(rejection.cause.find('\n'), std::string::npos) << rejection.cause;
    return rejection.cause;
  }
  return "was hosted";
}

TEST(HostedModel, TrainsAHealthyPlugin) {
  Plan plan = DigitsPlan();
  plan.recipe.model = Plugin("healthy");
  EXPECT_GE(RunPlan(plan, {}).scores.accuracy, 0.94);
}

TEST(HostedModel, TrainsABrokenPluginWithoutGradientsForItsTrunk) {
  torch::Tensor trunk;
  Observer observer;
  observer.model = [&](torch::nn::Module& model) {
    trunk = model.named_parameters()["trunk.weight"];
  };
  Plan plan = DigitsPlan();
  plan.recipe.model = Plugin("broken");
  plan.recipe.steps = 3;
  RunPlan(plan, observer);
  EXPECT_FALSE(trunk.grad().defined());
}

TEST(HostedModel, LeavesTheRandomStateAndTheModeAlone) {
  torch::manual_seed(1);
  const Model model = HostModel(Plugin("healthy"), {1, 8, 8}, 10);
  const torch::Tensor drawn = torch::randn({4});
  EXPECT_TRUE(model.module->is_training());
  torch::manual_seed(1);
  torch::nn::Linear(64, 48);  // what the constructor draws, and nothing more
  torch::nn::Linear(48, 10);
  EXPECT_TRUE(torch::equal(drawn, torch::randn({4})));
}

TEST(HostedModel, RefusesWhatIsNoSharedLibrary) {
  EXPECT_THAT(CauseOf("/nowhere/libnet.so"), StartsWith("cannot be loaded: "));
  const std::string path = testing::TempDir() + "/text.so";
  std::ofstream(path) << "this is not a shared library, however long the text is made to be here";
  EXPECT_EQ(CauseOf(path), "cannot be loaded: invalid ELF header");
}

TEST(HostedModel, RefusesALibraryThatIsNoPlugin) {
  EXPECT_THAT(CauseOf(Plugin("no_symbol")),
              StartsWith("does not export dlcheck_plugin_versions; put DLCHECK_MODEL(Net)"));
}

// The factories of these abort, so that they hold that it was never called.
TEST(HostedModel, RefusesOtherVersionsBeforeCallingTheFactory) {
  EXPECT_THAT(CauseOf(Plugin("other_libtorch")), StartsWith("was built with LibTorch 1.0.0;"));
  EXPECT_THAT(CauseOf(Plugin("other_interface")),
              StartsWith("was built with plugin interface 999;"));
  EXPECT_THAT(CauseOf(Plugin("other_abi")), StartsWith("was built with _GLIBCXX_USE_CXX11_ABI=0;"));
}

TEST(HostedModel, RefusesAModelThatCannotBeBuilt) {
  EXPECT_EQ(CauseOf(Plugin("constructor_throws")),
            "its constructor failed: weights.bin is missing");
}

TEST(HostedModel, RefusesAModelThatCannotRun) {
  EXPECT_THAT(CauseOf(Plugin("forward_throws")),
              StartsWith("its forward pass failed: mat1 and mat2"));
}

TEST(HostedModel, RefusesOutputsOfAnotherShape) {
  EXPECT_EQ(CauseOf(Plugin("wrong_outputs")),
            "gave outputs of shape [2, 11] for 2 samples; [2, 10] is expected");
}

}  // namespace
}  // namespace dlcheck::reference

// What holds on an accelerator too. Skips where there is none.
#include <gtest/gtest.h>

#include "reference/checkpoint/durable_file.h"
#include "reference/checkpoint/tensor_file.h"
#include "tests/reference/runs.h"

namespace dlcheck::reference {
namespace {

class OnCuda : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!torch::cuda::is_available()) GTEST_SKIP() << "LibTorch sees no CUDA device";
  }
  Plan PlanOn(const std::string& device) const {
    Plan plan = DigitsPlan();
    plan.recipe.model = GetParam();
    plan.recipe.device = device;
    plan.recipe.steps = 20;
    plan.recipe.evaluate_samples = 32;
    if (plan.recipe.model == "gpt") {
      plan.recipe.data = DLCHECK_BINARY_DIR "/share/dlcheck/fixtures/text.h5";
      plan.recipe.width = 32;
      plan.recipe.depth = 2;
      plan.recipe.heads = 2;
      plan.recipe.context = 32;
      plan.recipe.batch_size = 8;
    }
    return plan;
  }
};

// Twenty steps add up roundings in another order; the bound is the one of G10 on CUDA times ten.
TEST_P(OnCuda, LossesAreThoseOfTheCpu) {
  const std::vector<double> cpu = LossesOf(PlanOn("cpu")), cuda = LossesOf(PlanOn("cuda"));
  ASSERT_EQ(cpu.size(), cuda.size());
  for (size_t i = 0; i < cpu.size(); ++i) EXPECT_NEAR(cuda[i], cpu[i], 1e-4 * cpu[i]) << i;
}

TEST_P(OnCuda, Fp16LearnsAndResumesExactly) {
  const std::string folder = testing::TempDir() + "/cuda-" + GetParam();
  const auto clear = [&] {
    for (const std::string& name : NamesIn(folder)) RemoveFolder(folder + "/" + name);
  };
  const auto state = [&] {
    const std::string path = folder + "/step-000000020/state.safetensors";
    return TensorsOf(path, ReadWhole(path));
  };
  Plan plan = PlanOn("cuda");
  plan.recipe.autocast = "fp16";
  plan.recipe.dropout = 0.1;
  plan.recipe.checkpoints = folder;
  clear();
  RunPlan(plan, {});
  const auto whole = state();
  clear();
  plan.recipe.stop_after = 9;
  RunPlan(plan, {});
  plan.recipe.stop_after = 0;
  plan.recipe.resume = true;
  RunPlan(plan, {});
  const auto parts = state();
  ASSERT_EQ(whole.size(), parts.size());
  for (const auto& [name, tensor] : whole)
    EXPECT_TRUE(torch::equal(tensor, parts.at(name))) << name;
}

INSTANTIATE_TEST_SUITE_P(Models, OnCuda, testing::Values("mlp", "resnet", "gpt"));

}  // namespace
}  // namespace dlcheck::reference

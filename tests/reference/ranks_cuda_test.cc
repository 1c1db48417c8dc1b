// Ranks on GPUs. Skips where there are too few.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/reference/ranks_runs.h"

namespace dlcheck::reference {
namespace {

std::vector<Trained> TrainOn(const std::string& device, Plan plan, int64_t zero) {
  plan.recipe.device = device;
  plan.recipe.zero_stage = zero;
  return TrainTogether(plan, 2);
}

std::vector<Plan> Plans() {
  Plan norms = ShortPlan("resnet");
  norms.recipe.sync_batchnorm = true;
  return {ShortPlan(), norms, GptPlan()};
}

TEST(RanksOnOneGpu, TrainAsThoseOnTheCpuWhateverIsSharedOut) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "LibTorch sees no CUDA device";
  for (Plan plan : Plans()) {
    plan.recipe.dropout = 0;  // drawn by another generator
    const std::vector<torch::Tensor> cpu = TrainOn("cpu", plan, 0)[0].weights;
    for (const int64_t zero : {0, 1, 2, 3}) {
      for (const Trained& rank : TrainOn("cuda", plan, zero)) {
        std::vector<torch::Tensor> weights;
        for (const torch::Tensor& weight : rank.weights) weights.push_back(weight.cpu());
        EXPECT_LE(Distance(weights, cpu), 1e-3) << plan.recipe.model << zero;
      }
    }
  }
}

TEST(RanksOnGpus, MeetOverNccl) {
  if (torch::cuda::device_count() < 2) GTEST_SKIP() << "LibTorch sees fewer than two CUDA devices";
  for (const char* zero : {"0", "1", "2", "3"}) {
    const std::string command =
        std::string(DLCHECK_BINARY_DIR) +
        "/bin/dlcheck-train --steps 8 --device cuda --nproc 2 --zero-stage " + zero +
        " > /dev/null";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  }
}

TEST(RanksOnGpus, AreRefusedWhereThereIsNone) {
  if (torch::cuda::is_available()) GTEST_SKIP() << "there is one";
  Plan plan = ShortPlan();
  plan.recipe.device = "cuda";
  EXPECT_EQ(ErrorOf(2, [&](const Ranks& ranks) { RunPlan(plan, {}, ranks); }),
            "device is cuda, but there is none");
}

}  // namespace
}  // namespace dlcheck::reference

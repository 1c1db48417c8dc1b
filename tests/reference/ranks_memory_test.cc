// What each rank holds, against the table of the paper on ZeRO. Prints what it finds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "reference/training/memory_report.h"
#include "tests/reference/ranks_runs.h"

namespace dlcheck::reference {
namespace {

constexpr double kMebibyte = 1 << 20;

// Bytes for each parameter in float32 with Adam: 4 of itself, 4 of its gradient, 8 of its moments.
// Of a group of N ranks each keeps a part of what is shared out.
// Source: Rajbhandari et al. 2020, ZeRO, figure 1.
double BytesByThePaper(int64_t zero, int64_t n, double parameters) {
  const auto part = [&](int64_t stage) { return zero >= stage ? 1.0 / static_cast<double>(n) : 1; };
  return parameters * (4 * part(3) + 4 * part(2) + 8 * part(1));
}

struct Held {
  double before_step = 0;  // when all of the state is there, and nothing of a pass
  double peak = 0;
  double parameters = 0;  // how many
};

// What the rank holds that holds most.
Held Measured(const Plan& plan, int64_t world) {
  std::vector<Held> by_rank(static_cast<size_t>(world));
  RunThreadRanks(world, [&](const Ranks& ranks) {
    Held& held = by_rank[static_cast<size_t>(ranks.rank())];
    const MemoryReport memory;
    Observer observer;
    observer.before_step = [&] { held.before_step = static_cast<double>(memory.held_bytes()); };
    const Outcome outcome = RunPlan(plan, observer, world == 1 ? Ranks() : ranks);
    held.peak = static_cast<double>(memory.peak_bytes());
    for (const torch::Tensor& weight : WeightsOf(outcome)) {
      held.parameters += static_cast<double>(weight.numel());
    }
  });
  return *std::max_element(by_rank.begin(), by_rank.end(), [](const Held& a, const Held& b) {
    return a.before_step < b.before_step;
  });
}

// So wide that the data, half a mebibyte, count little beside the state.
Plan WidePlan() {
  Plan plan = ShortPlan();
  plan.recipe.width = 1024;
  plan.recipe.depth = 4;
  plan.recipe.optimizer = "adam";
  plan.recipe.batch_size = 8;
  plan.recipe.steps = 3;
  plan.recipe.evaluate_every = 3;
  plan.recipe.evaluate_samples = 8;
  return plan;
}

void ExpectThePaper(const Plan& plan, int64_t world) {
  const int64_t n = plan.recipe.shard_group == 0 ? world : plan.recipe.shard_group;
  const Held held = Measured(plan, world);
  const double expected = BytesByThePaper(plan.recipe.zero_stage, n, held.parameters);
  std::printf(
      "zero %lld, %lld ranks, parts %lld: %.2f MiB, paper %.2f, ratio %.3f, peak %.2f MiB\n",
      static_cast<long long>(plan.recipe.zero_stage), static_cast<long long>(world),
      static_cast<long long>(n), held.before_step / kMebibyte, expected / kMebibyte,
      held.before_step / expected, held.peak / kMebibyte);
  EXPECT_NEAR(held.before_step / expected, 1, 0.1);
}

TEST(MemoryOfRanks, IsThatOfThePaperWithinATenth) {
  Plan plan = WidePlan();
  for (const int64_t world : {1, 2, 4}) {
    for (const int64_t zero : {0, 1, 2, 3}) {
      plan.recipe.zero_stage = zero;
      ExpectThePaper(plan, world);
    }
  }
}

TEST(MemoryOfRanks, IsThatOfTheirGroup) {
  Plan plan = WidePlan();
  plan.recipe.zero_stage = 3;
  plan.recipe.shard_group = 2;
  ExpectThePaper(plan, 4);
}

}  // namespace
}  // namespace dlcheck::reference

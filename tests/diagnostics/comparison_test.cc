// Two runs side by side: the first difference in the order of a step, its cause, and what a text
// and a page say of it.
#include "diagnostics/compare/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "checks/engine/run_builder.h"
#include "tests/diagnostics/kept_page.h"

namespace dlcheck {
namespace {

using testing::HasSubstr;
using testing::Not;

using Recorded = Run;  // in a test, Run is one of its own functions

// What one run of ten steps does otherwise from `from` on.
struct Changes {
  int64_t from = 0;
  double loss = 0, gradient = 0, rate = 0, update = 0, clip = 0;
  int losses = 1;
  double seed = 1;
};

Run Changed(const Changes& changes) {
  RunBuilder run;
  run.Process("python", "3.11").Parameter("fc.weight");
  run.Event(Event::kSeeded, changes.seed);
  for (int64_t step = 0; step < 10; ++step) {
    const double on = step >= changes.from ? 1 : 0;
    run.Quantity(Quantity::kBatchDigest, "model", "Net", 7, static_cast<double>(step));
    for (int i = 0; i < (on > 0 ? changes.losses : 1); ++i) {
      run.Quantity(Quantity::kLoss, "loss", "loss", on > 0 ? 1 + changes.loss : 1);
    }
    if (changes.clip > 0) run.Event(Event::kClip, changes.clip, "clip", "norm", 2);
    run.Quantity(Quantity::kGradientNorm, "parameter", "fc.weight", 0.5 + on * changes.gradient);
    run.Quantity(Quantity::kLearningRate, "group", "optimizer#0/group#0", 0.1 + on * changes.rate);
    run.Quantity(Quantity::kUpdateNorm, "parameter", "fc.weight", 0.05 + on * changes.update);
    run.Event(Event::kStep, 0, "optimizer", "optimizer#0");
  }
  return run.Build();
}

Comparison Between(const Run& a, const Run& b) {
  return Compare({.name = "a", .run = &a, .report = nullptr, .command = {}},
                 {.name = "b", .run = &b, .report = nullptr, .command = {}}, std::nullopt, {}, {});
}

Comparison Of(const Changes& changes) { return Between(Changed({}), Changed(changes)); }

TEST(Compare, FindsNothingBetweenEqualRuns) {
  const Comparison comparison = Of({});
  EXPECT_FALSE(comparison.walk.first.has_value());
  EXPECT_EQ(comparison.walk.steps, 10);
  EXPECT_EQ(comparison.outcome.b, Better::kSame);
  EXPECT_EQ(ExitCodeOf(comparison, Severity::kError), kExitClean);
}

TEST(Compare, NamesTheEarliestStageOfTheFirstStep) {
  const Comparison comparison = Of({.from = 3, .gradient = 0.1, .rate = 0.1, .update = 0.1});
  ASSERT_TRUE(comparison.walk.first.has_value());
  EXPECT_EQ(comparison.walk.first->stage, Stage::kGradient);
  EXPECT_EQ(comparison.walk.first->step_a, 3);
  EXPECT_EQ(comparison.walk.first->last_equal, 2);
  EXPECT_EQ(comparison.walk.first->thing, "fc.weight");
  EXPECT_EQ(comparison.walk.differing.at(Stage::kUpdate), 7);
}

TEST(Compare, TakesTinyDifferencesForRounding) {
  EXPECT_EQ(Of({.loss = 1e-7}).reason.origin, Origin::kMachine);
  EXPECT_EQ(Of({.loss = 1e-2}).reason.origin, Origin::kCode);
}

TEST(Compare, TellsMoreBackwardCallsFromAnotherLoss) {
  const Comparison comparison = Of({.losses = 2});
  EXPECT_EQ(comparison.walk.first->count_b, 2u);
  EXPECT_THAT(RenderComparison(comparison), HasSubstr("A has 1 backward call in this step, B 2."));
}

TEST(Compare, SeesThatOnlyOneRunClips) {
  const Comparison comparison = Of({.clip = 1});
  EXPECT_EQ(comparison.walk.first->stage, Stage::kClip);
  EXPECT_THAT(comparison.reason.text, HasSubstr("Only B clips"));
  EXPECT_TRUE(comparison.walk.trains_alike());
  EXPECT_EQ(comparison.outcome.b, Better::kSame);
}

TEST(Compare, HoldsTwoNaNsForEqual) {
  const Recorded a = Changed({.from = 5, .loss = NAN}), b = Changed({.from = 5, .loss = NAN});
  EXPECT_FALSE(Between(a, b).walk.first.has_value());
  EXPECT_EQ(Between(Changed({}), b).walk.first->step_a, 5);
}

TEST(Compare, LetsNormsOfTwoLanguagesDifferByRounding) {
  Recorded cpp = Changed({.gradient = 1e-7});
  cpp.trace.SetProcessAttribute("python", "");
  EXPECT_FALSE(Between(Changed({}), cpp).walk.first.has_value());
  EXPECT_TRUE(Of({.gradient = 1e-7}).walk.first.has_value());
}

TEST(Compare, CallsNothingEqualWhoseRecordsAreDamaged) {
  const Recorded a = Changed({});
  Recorded b = Changed({});
  b.losses.damaged.push_back("1-0.records: cut off");
  const Comparison comparison = Between(a, b);
  EXPECT_NE(comparison.outcome.b, Better::kSame);
  EXPECT_EQ(ExitCodeOf(comparison, Severity::kError), kExitNothing);
  EXPECT_THAT(RenderComparison(comparison), HasSubstr("B: 1-0.records: cut off"));
}

TEST(Compare, ExitsAsNothingJudgedWithoutACommonStep) {
  const Comparison comparison = Between(Changed({}), Recorded());
  EXPECT_EQ(ExitCodeOf(comparison, Severity::kError), kExitNothing);
  EXPECT_THAT(RenderComparison(comparison), HasSubstr("No step of both runs was recorded"));
}

// With the pages of reports, which a browser opens.
TEST(Page, OfAComparisonShowsHostileNamesAsText) {
  const Recorded a = Changed({}), b = Changed({.loss = 1});
  const Comparison comparison = Compare(
      {.name = "<script>alert(1)</script>\x1b[31m", .run = &a, .report = nullptr, .command = {}},
      {.name = "b", .run = &b, .report = nullptr, .command = {}}, std::nullopt, {}, {});
  EXPECT_THAT(Kept("comparison", RenderComparisonHtml(comparison)), Not(HasSubstr("<script")));
  EXPECT_THAT(RenderComparison(comparison), Not(HasSubstr("\x1b")));
}

LossOutcome OfSeeds(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<SeriesOfRun> runs;
  for (const auto* values : {&a, &b}) {
    for (const double value : *values) {
      SeriesOfRun run;
      run.series.push_back({.quantity = "evaluation_loss",
                            .thing = "",
                            .unit = "",
                            .buckets = {{0, 0, value, value}},
                            .samples = 1,
                            .last = value});
      runs.push_back(run);
    }
  }
  std::vector<const SeriesOfRun*> of_a, of_b;
  for (size_t i = 0; i < runs.size(); ++i) (i < a.size() ? of_a : of_b).push_back(&runs[i]);
  return LossOutcomeOf(of_a, of_b, false);
}

TEST(LossOutcome, NeedsAnIntervalWithoutZero) {
  EXPECT_EQ(OfSeeds({1.0, 1.1, 0.9}, {0.5, 0.6, 0.4}).b, Better::kBetter);
  EXPECT_EQ(OfSeeds({0.5, 0.6, 0.4}, {1.0, 1.1, 0.9}).b, Better::kWorse);
  EXPECT_EQ(OfSeeds({1.0, 1.4, 0.6}, {0.9, 1.3, 0.5}).b, Better::kUnknown);
  EXPECT_EQ(OfSeeds({1.0}, {0.5}).b, Better::kUnknown);
}

// 4.4 degrees of freedom count as 4: 2.5 +- 2.776 * sqrt(5/12 + 20/12).
TEST(LossOutcome, GivesWelchsInterval) {
  const LossOutcome outcome = OfSeeds({1, 2, 3, 4}, {2, 4, 6, 8});
  EXPECT_NEAR(outcome.low, -1.507, 1e-3);
  EXPECT_NEAR(outcome.high, 6.507, 1e-3);
}

}  // namespace
}  // namespace dlcheck

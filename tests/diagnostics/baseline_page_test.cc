// The page of `dlcheck reference`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "diagnostics/baseline/baseline_result.h"
#include "tests/diagnostics/kept_page.h"

namespace dlcheck {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kText[] =
    R"({"constant": 2.3, "losses": [2.3, 2.2, 2.25, 2.2], "milliseconds_a_step": 7.5, "severity": "warning",
 "verdict": "not_better_than_linear", "text": "A linear model learns more.", "weak": "Likely cause: the optimizer.",
 "baselines": [{"name": "linear", "rate": 0.1, "milliseconds_a_step": 0.2, "late_loss": [0.4, 0.5],
                "losses": [[2.3, 1.0, 0.6, 0.4], [2.3, 1.1, null, 0.5]]}]})";

BaselineResult Parsed() { return ParseBaseline(kText).value(); }

TEST(BaselinePage, ReadsWhatTheTrainerWrote) {
  const BaselineResult result = Parsed();
  EXPECT_EQ(result.baselines.size(), 1u);
  EXPECT_THAT(result.losses, ElementsAre(2.3, 2.2, 2.25, 2.2));
  EXPECT_TRUE(std::isnan(result.baselines[0].losses[1][2]));
  EXPECT_EQ(result.weak, "Likely cause: the optimizer.");
}

TEST(BaselinePage, RefusesWhatIsNoResult) {
  for (const char* text : {"", "[]", "{}", R"({"constant": "high"})"}) {
    EXPECT_FALSE(ParseBaseline(text).ok()) << text;
  }
}

TEST(BaselinePage, ShowsACurveABandAndTheVerdict) {
  const std::string page = Kept("baseline", RenderBaselineHtml(Parsed(), "dlcheck-out"));
  for (const char* part :
       {"dlcheck reference: warning", "A linear model learns more.", "Likely cause: the optimizer.",
        "class=\"curve c0\"", "class=\"band c1\"", "best constant prediction", "this program",
        "linear"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  EXPECT_THAT(page, Not(HasSubstr("nan")));
}

TEST(BaselinePage, HasTheTimeOfAStepWhereItIsKnown) {
  BaselineResult result = Parsed();
  EXPECT_THAT(RenderBaselineHtml(result, "out"), HasSubstr(">7.5<"));
  result.milliseconds = NAN;
  EXPECT_THAT(RenderBaselineHtml(result, "out"), Not(HasSubstr("nan")));
}

TEST(BaselinePage, WithoutAProgramShowsTheModelsAlone) {
  BaselineResult result = Parsed();
  result.losses.clear();
  const std::string page = RenderBaselineHtml(result, "mine.h5");
  EXPECT_THAT(page, Not(HasSubstr("this program")));
  EXPECT_THAT(page, HasSubstr("class=\"band c0\""));
  EXPECT_THAT(page, HasSubstr("Data: "));
}

TEST(BaselinePage, ALossThatIsNeverFiniteIsSaid) {
  BaselineResult result = Parsed();
  result.losses.assign(4, NAN);
  result.baselines.clear();
  EXPECT_THAT(RenderBaselineHtml(result, "out"), HasSubstr("No loss is finite."));
}

}  // namespace
}  // namespace dlcheck

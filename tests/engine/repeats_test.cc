#include "checks/engine/repeats.h"

#include <gtest/gtest.h>

namespace dlcheck {
namespace {

Finding At(int64_t step, const std::string& message, int line = 7,
           Severity severity = Severity::kWarning) {
  return {.severity = severity,
          .message = message,
          .places = {{.thing = "net", .file = "train.py", .line = line}},
          .first_step = step,
          .last_step = step,
          .count = 1,
          .measured = 1,
          .bound = 0};
}

TEST(Repeats, AreOneFindingThatSaysHowOftenAndUntilWhen) {
  std::vector<Finding> findings = {At(5, "After 5 steps, 0.25."), At(25, "After 25 steps, 1.5."),
                                   At(45, "After 45 steps, 3.")};
  JoinRepeats(findings);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].message,
            "After 5 steps, 0.25. This happens 3 times, the last time at step 45.");
  EXPECT_EQ(findings[0].first_step, 5);
  EXPECT_EQ(findings[0].last_step, 45);
  EXPECT_EQ(findings[0].count, 3);
}

TEST(Repeats, OfOtherLinesSeveritiesOrWordsStayApart) {
  std::vector<Finding> findings = {At(5, "After 5 steps."), At(6, "After 6 steps.", 8),
                                   At(7, "After 7 steps.", 7, Severity::kNote),
                                   At(8, "Before 8 steps.")};
  JoinRepeats(findings);
  EXPECT_EQ(findings.size(), 4u);
}

TEST(Repeats, WithoutALineStayApart) {
  std::vector<Finding> findings = {At(5, "After 5 steps.", 0), At(6, "After 6 steps.", 0)};
  JoinRepeats(findings);
  EXPECT_EQ(findings.size(), 2u);
}

}  // namespace
}  // namespace dlcheck

// The order in which a report shows its findings, and what one of them keeps other checks from
// judging.
#include "diagnostics/triage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "checks/catalog/catalog.h"
#include "diagnostics/masked.h"
#include "diagnostics/render/render.h"
#include "tests/diagnostics/small_report.h"

namespace dlcheck {
namespace {

TEST(Triage, PutsCausesFirstAndFoldsWhatTheyExplain) {
  const Report report = SmallReport();
  const std::vector<Cause> causes = Triage(report);
  ASSERT_EQ(causes.size(), 2u);
  EXPECT_EQ(causes[0].result->check->id, "optimizer/stale_gradients");
  ASSERT_EQ(causes[0].symptoms.size(), 1u);
  EXPECT_EQ(causes[0].symptoms[0]->check->id, "gradients/exploding");
}

TEST(Triage, DoesNotLetAMildCauseHideAWorseSymptom) {
  Report report = SmallReport();
  report.results[4].verdict.findings[0].severity = Severity::kNote;
  EXPECT_EQ(Triage(report)[0].result->check->id, "gradients/exploding");
}

Result Failed(std::string_view id, Severity severity) {
  return {FindCheck(id), Outcome::kFailed, "", {{SmallFinding(severity, "It failed.", {})}, ""}};
}

TEST(Triage, FoldsWhatASymptomExplainsUnderItsCause) {
  Report report = SmallReport();
  report.results.push_back(Failed("numerics/nonfinite_values", Severity::kError));
  report.results.push_back(Failed("program/failed", Severity::kError));
  const std::vector<Cause> causes = Triage(report);
  EXPECT_EQ(causes[0].result->check->id, "optimizer/stale_gradients");
  EXPECT_EQ(causes[0].symptoms.size(), 3u);
}

TEST(Triage, PutsAnErrorInTheProgramsSourceBeforeWarnings) {
  Report report;
  report.results = {Failed("gradients/exploding", Severity::kWarning),
                    Failed("program/method_not_called", Severity::kError)};
  EXPECT_EQ(Triage(report)[0].result->check->id, "program/method_not_called");
}

TEST(Triage, PutsThatTheProgramFailedAfterTheWarningsThatMayBeWhy) {
  Report report;
  report.results = {Failed("gradients/missing", Severity::kNote),
                    Failed("gradients/vanishing", Severity::kWarning),
                    Failed("program/failed", Severity::kError)};
  const std::vector<Cause> causes = Triage(report);
  ASSERT_EQ(causes.size(), 3u);
  EXPECT_EQ(causes[0].result->check->id, "gradients/vanishing");
  EXPECT_EQ(causes[1].result->check->id, "program/failed");
}

TEST(Triage, PutsWhatIsSeldomACauseLastOfItsSeverity) {
  Report report;
  report.results = {Failed("learnability/no_better_than_constant", Severity::kWarning),
                    Failed("model/bias_before_norm", Severity::kNote),
                    Failed("precision/half_precision_norm", Severity::kWarning),
                    Failed("performance/memory_growth", Severity::kNote)};
  std::vector<std::string_view> order;
  for (const Cause& cause : Triage(report)) order.push_back(cause.result->check->id);
  EXPECT_EQ(order, (std::vector<std::string_view>{
                       "precision/half_precision_norm", "learnability/no_better_than_constant",
                       "performance/memory_growth", "model/bias_before_norm"}));
}

TEST(Triage, PutsAWarningBeforeAnErrorThatItExplainsAndHidesItNot) {
  Report report;
  report.results = {Failed("initialization/wrong_initial_loss", Severity::kError),
                    Failed("program/method_not_called", Severity::kError),
                    Failed("data/unnormalized_inputs", Severity::kWarning)};
  std::vector<std::string_view> order;
  for (const Cause& cause : Triage(report)) order.push_back(cause.result->check->id);
  EXPECT_EQ(order,
            (std::vector<std::string_view>{"program/method_not_called", "data/unnormalized_inputs",
                                           "initialization/wrong_initial_loss"}));
  report.results = {Failed("learnability/cannot_overfit_one_batch", Severity::kError),
                    Failed("gradients/missing", Severity::kWarning)};
  EXPECT_EQ(Triage(report)[0].result->check->id, "learnability/cannot_overfit_one_batch");
  report.results = {Failed("precision/skipped_steps", Severity::kError),
                    Failed("numerics/nonfinite_values", Severity::kWarning)};
  EXPECT_EQ(Triage(report)[0].result->check->id, "numerics/nonfinite_values");
}

TEST(Triage, PutsEffectsBehindWhatTheProgramDoes) {
  for (const std::string_view effect : Effects()) {
    ASSERT_NE(FindCheck(effect), nullptr) << effect;
    Report report;
    report.results = {Failed(effect, Severity::kNote),
                      Failed("performance/memory_growth", Severity::kNote)};
    EXPECT_EQ(Triage(report)[0].result->check->id, "performance/memory_growth") << effect;
    report.results[0].verdict.findings[0].severity = Severity::kWarning;
    EXPECT_EQ(Triage(report)[0].result->check->id, effect);
  }
}

TEST(Masked, NamesTheChecksThatCannotJudgeAndFoundNothing) {
  Report report;
  report.results = {Failed("gradients/zeroed_during_accumulation", Severity::kError),
                    Failed("training_loop/doubly_divided_loss", Severity::kError),
                    {FindCheck("training_loop/unweighted_accumulation"), Outcome::kPassed, "", {}},
                    {FindCheck("optimizer/stale_gradients"), Outcome::kNotSeen, "", {}}};
  EXPECT_THAT(
      MaskedBy(report, report.results[0]).checks,
      testing::ElementsAre("optimizer/stale_gradients", "training_loop/unweighted_accumulation"));
  EXPECT_TRUE(MaskedBy(report, report.results[3]).checks.empty());
  const std::string text = RenderText(report, SmallFrame());
  EXPECT_NE(text.find("  masks  optimizer/stale_gradients and "
                      "training_loop/unweighted_accumulation: no gradients add up."),
            std::string::npos)
      << text;
  EXPECT_NE(RenderJson(report, SmallFrame()).find("\"masks\""), std::string::npos);
}

}  // namespace
}  // namespace dlcheck

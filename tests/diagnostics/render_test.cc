// One small report, every renderer, each with a golden. DLCHECK_UPDATE_GOLDENS=1 rewrites them.
#include "diagnostics/render/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "checks/catalog/catalog.h"
#include "checks/engine/text.h"
#include "diagnostics/masked.h"
#include "diagnostics/triage.h"
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

TEST(RenderText, MatchesItsGolden) {
  ExpectGolden("report.txt", RenderText(SmallReport(), SmallFrame()));
}

TEST(RenderText, FitsAHealthyRunIntoFourLines) {
  Report report;
  // As of a plain run without a scaler, a schedule, an average or a checkpoint: whole areas have
  // nothing to look at, and of others only some checks.
  for (const Check& check : Catalog()) {
    const size_t number = report.results.size();
    const bool first_half = number < Catalog().size() / 2;
    const Outcome outcome = number % 3 == 0 ? Outcome::kPassed
                            : first_half    ? Outcome::kNotSeen
                                            : Outcome::kNotApplicable;
    const bool waits = !first_half && number % 5 == 0;
    const std::string reason = waits ? "needs --deep" : StrCat("reason ", number);
    report.results.push_back({&check, outcome, reason, {}});
  }
  report.coverage = {
      .steps = 10, .sampled_steps = 10, .parameters = 4, .parameters_with_gradient = 4};
  const std::string text = RenderText(
      report, {.command = {}, .result_path = "x/result.json", .exit_reason = "", .started = ""});
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 4);
  EXPECT_NE(text.find("no findings"), std::string::npos);
}

TEST(RenderText, SaysWhyChecksReachedNoVerdictWhenAsked) {
  Frame frame = SmallFrame();
  frame.with_reasons = true;
  ExpectGolden("report_with_reasons.txt", RenderText(SmallReport(), frame));
}

TEST(RenderText, ListsWhatIsSetAsideAndTheSuppressionsThatAreIdle) {
  Report report = SmallReport();
  Result& stale = report.results[4];
  stale.set_aside = {{stale.verdict.findings[0], SetAsideFinding::How::kAccepted, ""},
                     {stale.verdict.findings[0], SetAsideFinding::How::kSuppressed, "as agreed"}};
  stale.verdict.findings = {};
  stale.outcome = Outcome::kSetAside;
  report.suppressions = {
      {"training_loop/*", "a.py", "slow", "2026-01-31", SuppressionUse::State::kExpired},
      {"training_loop/*", "", "moved", "", SuppressionUse::State::kUnused},
      {"optimizer/*", "", "as agreed", "", SuppressionUse::State::kUsed}};
  const std::string text = RenderText(report, SmallFrame());
  EXPECT_NE(text.find("1 accepted · 1 suppressed · "), std::string::npos) << text;
  EXPECT_NE(text.find("accepted: error optimizer/stale_gradients at train.py:41\n"), text.npos);
  EXPECT_NE(text.find("suppressed: error optimizer/stale_gradients at train.py:41 (as agreed)\n"),
            text.npos);
  EXPECT_NE(text.find("suppression expired on 2026-01-31: training_loop/* at a.py (slow)\n"),
            text.npos);
  EXPECT_NE(text.find("suppression unused: training_loop/* (moved)\n"), text.npos);
  Frame frame = SmallFrame();
  frame.new_only = true;
  const std::string shorter = RenderText(report, frame);
  EXPECT_NE(shorter.find("1 accepted · 1 suppressed · "), std::string::npos);
  EXPECT_EQ(shorter.find("accepted: "), std::string::npos);
}

Frame FrameOfATriedChange() {
  Frame frame = SmallFrame();
  frame.tried = TriedChange{.check = "optimizer/stale_gradients",
                            .file = "/home/ada/train.py",
                            .diff = "+optimizer.zero_grad()\n",
                            .outcome = "With the change, the finding is gone.",
                            .gone = true,
                            .loss_before = 0.5,
                            .loss_after = 0.25};
  return frame;
}

TEST(RenderText, SaysBesideItsFindingWhatATriedChangeCameTo) {
  const std::string text = RenderText(SmallReport(), FrameOfATriedChange());
  const size_t tried = text.find("  tried  With the change, the finding is gone.\n");
  ASSERT_NE(tried, std::string::npos);
  EXPECT_GT(tried, text.find("optimizer/stale_gradients"));
  EXPECT_LT(tried, text.find("model/double_softmax"));
}

TEST(RenderJson, KeepsATriedChangeWithItsLosses) {
  const std::string json = RenderJson(SmallReport(), FrameOfATriedChange());
  EXPECT_NE(json.find("\"diff\": \"+optimizer.zero_grad()\\n\""), std::string::npos);
  EXPECT_NE(json.find("\"gone\": true"), std::string::npos);
  EXPECT_NE(json.find("\"loss_before\": 0.5"), std::string::npos);
  EXPECT_NE(json.find("\"loss_after\": 0.25"), std::string::npos);
  EXPECT_EQ(RenderJson(SmallReport(), SmallFrame()).find("\"tried\""), std::string::npos);
}

TEST(RenderText, SaysWhyThereWasNothingToCheck) {
  Frame frame = SmallFrame();
  frame.exit_code = kExitNothing;
  EXPECT_NE(RenderText(Report(), frame).find("nothing to check: no training was observed"),
            std::string::npos);
  frame.unobserved = "python -I ignores PYTHONPATH: not observed";
  EXPECT_NE(RenderText(Report(), frame).find("python -I ignores PYTHONPATH"), std::string::npos);
  Report trained;
  trained.coverage.training = true;
  EXPECT_EQ(RenderText(trained, frame).find("no training"), std::string::npos);
}

TEST(RenderText, SaysWhatWasUnseenAndNoMore) {
  Report report = SmallReport();
  EXPECT_EQ(RenderText(report, SmallFrame()).find("unseen"), std::string::npos);
  report.coverage.unseen = {
      .compiled_graphs = 1, .graph_replays = 1400, .layers = 7, .layers_seen = 2};
  EXPECT_NE(
      RenderText(report, SmallFrame())
          .find("unseen: the inside of 1 compiled graph and 1,400 replays of captured graphs; "
                "5 of 7 layers\n         not seen to run in training\n"),
      std::string::npos);
  report.coverage.unseen = {.opaque_modules = 2, .layers = 7, .layers_seen = 7};
  EXPECT_NE(RenderText(report, SmallFrame())
                .find("unseen: the inside of 2 scripted or exported modules\n"),
            std::string::npos);
}

TEST(RenderText, SaysWhatWasUnseenWhereNothingWasSeen) {
  Report report;
  report.coverage.unseen = {.compiled_graphs = 1};
  Frame frame = SmallFrame();
  frame.exit_code = kExitNothing;
  EXPECT_NE(
      RenderText(report, frame)
          .find("unseen: the inside of 1 compiled graph; no model seen to run in training; no "
                "optimizer step\n         seen\n"),
      std::string::npos);
}

TEST(RenderText, SaysWhatStoppedTheProgram) {
  Report report = SmallReport();
  report.runs[0].ending = Ending{Ending::How::kStopped, 143, "SIGTERM"};
  EXPECT_NE(RenderText(report, SmallFrame()).find("the program was stopped by SIGTERM"),
            std::string::npos);
  report.runs[0].ending.stopped_by = "training_loop/summed_loss";
  EXPECT_NE(RenderText(report, SmallFrame()).find("first live error, of training_loop/summed_loss"),
            std::string::npos);
}

TEST(RenderJson, MatchesItsGolden) {
  ExpectGolden("result.json", RenderJson(SmallReport(), SmallFrame()));
}

TEST(RenderJson, CountsWhatWasUnseenWhereAnythingWas) {
  Report report = SmallReport();
  const auto coverage = [&] {
    return nlohmann::json::parse(RenderJson(report, SmallFrame()))["coverage"];
  };
  EXPECT_FALSE(coverage().contains("unseen"));
  report.coverage.unseen = {.compiled_graphs = 3, .layers = 7, .layers_seen = 2};
  EXPECT_EQ(coverage()["unseen"]["compiled_graphs"], 3);
  EXPECT_EQ(coverage()["unseen"]["layers_seen"], 2);
}

TEST(RenderJson, IsValidWhateverNamesHold) {
  const auto json = nlohmann::json::parse(RenderJson(SmallReport(), SmallFrame()));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["checks"].size(), 6u);
}

TEST(RenderJson, DiffersBetweenTimesOnlyInItsVolatileObject) {
  Frame later = SmallFrame();
  later.started = "2001-01-01";
  later.wall_seconds = 99;
  auto first = nlohmann::json::parse(RenderJson(SmallReport(), SmallFrame()));
  auto second = nlohmann::json::parse(RenderJson(SmallReport(), later));
  EXPECT_NE(first, second);
  first.erase("volatile");
  second.erase("volatile");
  EXPECT_EQ(first, second);
}

TEST(RenderExplanation, MatchesItsGolden) {
  ExpectGolden("explanation.txt", RenderExplanation(*FindCheck("optimizer/stale_gradients")));
}

TEST(RenderCatalog, IsTheCommittedPage) {
  const std::string path = std::string(DLCHECK_SOURCE_DIR) + "/docs/catalog.md";
  const std::string text = RenderCatalog(Catalog());
  if (std::getenv("DLCHECK_UPDATE_GOLDENS") != nullptr) std::ofstream(path) << text;
  std::ostringstream committed;
  committed << std::ifstream(path).rdbuf();
  EXPECT_EQ(text, committed.str()) << "make it again: dlcheck explain --all > docs/catalog.md";
}

}  // namespace
}  // namespace dlcheck

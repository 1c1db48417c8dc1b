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
#include "tests/diagnostics/small_report.h"

namespace dlcheck {
namespace {

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

TEST(RenderText, ListsTheLinesOfAFindingThatHasSeveral) {
  Report report = SmallReport();
  std::vector<Place>& places = report.results[4].verdict.findings[0].places;
  places = {{.thing = "", .file = "/home/me/train.py", .line = 7},
            {.thing = "fc1", .file = ""},
            {.thing = "", .file = "/home/me/loss.py", .line = 9}};
  EXPECT_THAT(RenderText(report, SmallFrame()),
              testing::HasSubstr("  lines  train.py:7 and loss.py:9\n"));
  places.pop_back();
  EXPECT_THAT(RenderText(report, SmallFrame()), testing::Not(testing::HasSubstr("  lines  ")));
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

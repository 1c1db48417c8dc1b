// Baselines and suppressions: what they take out of a report, and what they do not.
#include "diagnostics/set_aside.h"

#include <gmock/gmock.h>

#include "checks/catalog/catalog.h"
#include "diagnostics/fingerprint.h"

namespace dlcheck {
namespace {

using State = SuppressionUse::State;

constexpr const char* kId = "optimizer/stale_gradients";
const absl::CivilDay kToday(2026, 6, 15);

Finding At(std::vector<Place> places) {
  return {.severity = Severity::kError,
          .message = "Found.",
          .places = std::move(places),
          .first_step = 1,
          .last_step = 9,
          .count = 3,
          .measured = 3,
          .bound = 0};
}

const Place kLine{.thing = "", .file = "/home/ada/train.py", .line = 84};
const Place kFirst{.thing = "fc1.weight", .file = ""};
const Place kSecond{.thing = "fc2.weight", .file = ""};

Report With(std::vector<Finding> findings) {
  const Outcome outcome = findings.empty() ? Outcome::kPassed : Outcome::kFailed;
  return {.results = {{FindCheck(kId), outcome, "", {std::move(findings), "all"}}},
          .runs = {},
          .coverage = {.training = true}};
}

// The report once this one suppression was applied to a finding at `places`.
Report Suppressed(const Suppression& suppression, std::vector<Place> places = {kLine, kFirst}) {
  Report report = With({At(std::move(places))});
  SetAside({.accepted = {}, .suppressions = {suppression}, .today = kToday}, report);
  return report;
}

std::string PrintOf(const Finding& finding) { return Fingerprint(*FindCheck(kId), finding); }

TEST(Fingerprint, ForgetsFoldersLinesStepsOrderAndNumbers) {
  Finding moved = At({kFirst, {.thing = "", .file = "/elsewhere/train.py", .line = 90}});
  moved.first_step = 7;
  moved.measured = 99;
  EXPECT_EQ(PrintOf(At({kLine, kFirst})), PrintOf(moved));
}

TEST(Fingerprint, TellsThingsAndFilesApart) {
  EXPECT_NE(PrintOf(At({kFirst})), PrintOf(At({kSecond})));
  EXPECT_NE(PrintOf(At({kFirst})), PrintOf(At({kFirst, kSecond})));
  EXPECT_NE(PrintOf(At({kLine})), PrintOf(At({{.thing = "", .file = "other.py", .line = 84}})));
}

TEST(SetAside, AcceptsWhatTheBaselineHoldsAndLeavesTheRest) {
  Report report = With({At({kFirst}), At({kSecond})});
  SetAside({.accepted = {PrintOf(At({kFirst}))}, .suppressions = {}, .today = kToday}, report);
  const Result& result = report.results[0];
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  ASSERT_EQ(result.verdict.findings.size(), 1u);
  EXPECT_EQ(result.verdict.findings[0].places[0].thing, "fc2.weight");
  ASSERT_EQ(result.set_aside.size(), 1u);
  EXPECT_EQ(result.set_aside[0].how, SetAsideFinding::How::kAccepted);
  EXPECT_EQ(ExitCodeOf(report, Severity::kError, {}), kExitFindings);
}

TEST(SetAside, LeavesAnOutcomeOfItsOwnWhereNothingElseWasFound) {
  const Report report = Suppressed({.check = kId, .place = "", .reason = "known", .expires = {}});
  EXPECT_EQ(report.results[0].outcome, Outcome::kSetAside);
  EXPECT_EQ(report.results[0].set_aside[0].reason, "known");
  EXPECT_EQ(report.suppressions[0].state, State::kUsed);
  EXPECT_EQ(ExitCodeOf(report, Severity::kNote, {kId}), kExitClean);
}

TEST(SetAside, SuppressesByGlobOfTheCheck) {
  const auto state = [](const std::string& check) {
    return Suppressed({.check = check, .place = "", .reason = "r", .expires = {}})
        .suppressions[0]
        .state;
  };
  EXPECT_EQ(state("optimizer/*"), State::kUsed);
  EXPECT_EQ(state("optimizer"), State::kUsed);
  EXPECT_EQ(state("*"), State::kUsed);
  EXPECT_EQ(state("training_loop/*"), State::kNotJudged);
}

TEST(SetAside, SuppressesAtAFileOrAtAllThings) {
  const auto fits = [](const std::string& place, std::vector<Place> places) {
    return Fits({.check = "*", .place = place, .reason = "r", .expires = {}}, *FindCheck(kId),
                At(std::move(places)));
  };
  EXPECT_TRUE(fits("train.py", {kLine, kFirst}));
  EXPECT_TRUE(fits("/home/*/train.py", {kLine, kFirst}));
  EXPECT_FALSE(fits("test.py", {kLine, kFirst}));
  EXPECT_TRUE(fits("fc*", {kFirst, kSecond}));
  EXPECT_FALSE(fits("fc1.*", {kFirst, kSecond}));
  EXPECT_FALSE(fits("fc1.*", {}));
}

TEST(SetAside, SuppressesOnItsLastDayAndNotAfter) {
  const auto report = [](absl::CivilDay expires) {
    return Suppressed({.check = kId, .place = "", .reason = "r", .expires = expires});
  };
  EXPECT_EQ(report(kToday).suppressions[0].state, State::kUsed);
  const Report late = report(kToday - 1);
  EXPECT_EQ(late.suppressions[0].state, State::kExpired);
  EXPECT_EQ(late.suppressions[0].expires, "2026-06-14");
  EXPECT_EQ(late.results[0].outcome, Outcome::kFailed);
}

TEST(SetAside, SaysUnusedOfASuppressionThatFitsNothingThatWasFound) {
  Report report = With({});
  SetAside({.accepted = {},
            .suppressions = {{.check = kId, .place = "", .reason = "r", .expires = {}}},
            .today = kToday},
           report);
  EXPECT_EQ(report.suppressions[0].state, State::kUnused);
  EXPECT_EQ(report.results[0].outcome, Outcome::kPassed);
}

}  // namespace
}  // namespace dlcheck

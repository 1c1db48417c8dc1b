#include "checks/engine/runner.h"

#include <gmock/gmock.h>
#include <stdexcept>

#include "checks/engine/reads.h"
#include "checks/engine/run_builder.h"
#include "checks/engine/text.h"

namespace dlcheck {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// How many optimizer steps a run made.
struct Steps {
  static constexpr std::string_view kName = "steps";
  int64_t count;
  static absl::StatusOr<Steps> From(const Run& run) {
    Steps steps{0};
    for (const Occurrence& event : run.trace.Events()) steps.count += event.event == Event::kStep;
    if (steps.count == 0) return absl::NotFoundError("no step");
    return steps;
  }
};

Finding SomeFinding(Severity severity) {
  return {.severity = severity,
          .message = "Found.",
          .places = {},
          .first_step = 0,
          .last_step = 0,
          .count = 1,
          .measured = 1,
          .bound = 0};
}

// Fails unless the second rung of a ladder was run and has more than one step.
absl::StatusOr<Verdict> JudgeLadder(const Settings&, const During<kOneBatch, Steps>&,
                                    const IfSeen<During<kOneBatchFaster, Steps>>& second) {
  Verdict verdict{.findings = {}, .judged = "a ladder"};
  if (!second || second->count < 2) verdict.findings.push_back(SomeFinding(Severity::kError));
  return verdict;
}

absl::StatusOr<Verdict> JudgePlain(const Settings&, const Steps& steps) {
  Verdict verdict{.findings = {}, .judged = "steps"};
  if (steps.count > 1) verdict.findings.push_back(SomeFinding(Severity::kWarning));
  return verdict;
}

absl::StatusOr<Verdict> JudgeZeroLr(const Settings&, const During<kZeroLr, Steps>&) {
  return Verdict{.findings = {}, .judged = "steps"};
}

Check CheckOf(std::string_view id, Judgement judgement) {
  return {.id = id,
          .title = "",
          .promise = "",
          .why = "",
          .method = "",
          .fix = "",
          .limits = {},
          .python = {},
          .cpp = {},
          .sources = {},
          .covers = {},
          .explains = {},
          .worst = Severity::kError,
          .live = false,
          .stands_at = std::nullopt,
          .settings = {},
          .judgement = std::move(judgement),
          .examples = {}};
}

class RunnerTest : public testing::Test {
 protected:
  dlcheck::Run RunWith(int64_t steps) {
    RunBuilder run;
    for (int64_t i = 0; i < steps; ++i) run.Event(Event::kStep);
    return run.Build();
  }

  Evidence GatherWith(const Check& check, absl::Duration time = absl::Minutes(1)) {
    return GatherFor({&check}, time);
  }

  Evidence GatherFor(const std::vector<const Check*>& checks,
                     absl::Duration time = absl::Minutes(1)) {
    const Subject subject = [this](const Experiment& experiment,
                                   absl::Duration) -> absl::StatusOr<dlcheck::Run> {
      asked_.push_back(FolderName(experiment));
      dlcheck::Run run = RunWith(experiment == kOneBatchFaster ? 2 : 1);
      if (experiment == kPlain) {
        run = RunWith(plain_steps_);
        run.ending = plain_ending_;
      }
      return run;
    };
    return Gather(
        subject, checks, {}, {.time = time, .experiments = deep_}, [](const Experiment&) {},
        [] { return false; });
  }

  Result ResultOf(const Check& check, const Evidence& evidence) {
    const Check* checks[] = {&check};
    return JudgeAll(evidence, checks, {}).results[0];
  }

  std::vector<std::string> asked_;
  Ending plain_ending_{Ending::How::kFinished, 0};
  int64_t plain_steps_ = 1;
  bool deep_ = true;
};

TEST_F(RunnerTest, RunsAnOptionalExperimentOnlyWhileTheCheckFails) {
  const Check ladder = CheckOf("learnability/ladder", Reads<&JudgeLadder>());
  const Evidence evidence = GatherWith(ladder);
  EXPECT_THAT(asked_, ElementsAre("plain-0", "one_batch-0", "one_batch-1"));
  EXPECT_EQ(ResultOf(ladder, evidence).outcome, Outcome::kPassed);
}

TEST_F(RunnerTest, RunsFirstWhatMostChecksWaitFor) {
  const Check ladder = CheckOf("data/ladder", Reads<&JudgeLadder>());
  const Check one = CheckOf("model/one", Reads<&JudgeZeroLr>());
  const Check other = CheckOf("model/other", Reads<&JudgeZeroLr>());
  GatherFor({&ladder, &one, &other});
  EXPECT_THAT(asked_, ElementsAre("plain-0", "zero_lr-0", "one_batch-0", "one_batch-1"));
  const Check* checks[] = {&ladder, &one, &other};
  EXPECT_THAT(PlannedExperiments(checks), ElementsAre(kZeroLr, kOneBatch, kOneBatchFaster));
}

TEST_F(RunnerTest, RunsNothingButThePlainRunUnlessDeep) {
  deep_ = false;
  const Check ladder = CheckOf("learnability/ladder", Reads<&JudgeLadder>());
  const Result result = ResultOf(ladder, GatherWith(ladder));
  EXPECT_THAT(asked_, ElementsAre("plain-0"));
  EXPECT_EQ(result.outcome, Outcome::kNotApplicable);
  EXPECT_THAT(result.reason, HasSubstr("needs --deep"));
}

TEST_F(RunnerTest, RerunsNothingAfterThePlainRunFailed) {
  plain_ending_ = {Ending::How::kFailed, 1};
  const Check ladder = CheckOf("learnability/ladder", Reads<&JudgeLadder>());
  const Result result = ResultOf(ladder, GatherWith(ladder));
  EXPECT_THAT(asked_, ElementsAre("plain-0"));
  EXPECT_EQ(result.outcome, Outcome::kNotApplicable);
}

TEST_F(RunnerTest, RerunsAProgramThatTrainedForAWhileBeforeItFailed) {
  plain_ending_ = {Ending::How::kFailed, 1};
  plain_steps_ = 64;
  const Check ladder = CheckOf("learnability/ladder", Reads<&JudgeLadder>());
  GatherWith(ladder);
  EXPECT_EQ(asked_.size(), 3u);
}

TEST_F(RunnerTest, SaysOverAllowanceWhenTheTimeIsSpent) {
  const Check ladder = CheckOf("learnability/ladder", Reads<&JudgeLadder>());
  const Result result = ResultOf(ladder, GatherWith(ladder, absl::ZeroDuration()));
  EXPECT_EQ(result.outcome, Outcome::kOverAllowance);
}

TEST_F(RunnerTest, TurnsAStatusIntoTheOutcomeItStandsFor) {
  EXPECT_EQ(OutcomeOf(absl::NotFoundError("")), Outcome::kNotSeen);
  EXPECT_EQ(OutcomeOf(absl::DataLossError("")), Outcome::kNotSeen);
  EXPECT_EQ(OutcomeOf(absl::UnavailableError("")), Outcome::kNotSeen);
  EXPECT_EQ(OutcomeOf(absl::FailedPreconditionError("")), Outcome::kNotApplicable);
  EXPECT_EQ(OutcomeOf(absl::DeadlineExceededError("")), Outcome::kOverAllowance);
  EXPECT_EQ(OutcomeOf(absl::InternalError("")), Outcome::kBroken);
}

absl::StatusOr<Verdict> JudgeThrowing(const Settings&, const Steps&) {
  throw std::out_of_range("vector");
}

TEST_F(RunnerTest, ACheckThatThrowsIsBrokenAndTheOthersAreJudged) {
  const Check throwing = CheckOf("area/throwing", Reads<&JudgeThrowing>());
  const Check plain = CheckOf("area/plain", Reads<&JudgePlain>());
  const Check* checks[] = {&throwing, &plain};
  const Report report = JudgeAll(GatherWith(throwing), checks, {});
  EXPECT_EQ(report.results[0].outcome, Outcome::kBroken);
  EXPECT_EQ(report.results[0].reason, "vector");
  EXPECT_EQ(report.results[1].outcome, Outcome::kPassed);
  EXPECT_EQ(ExitCodeOf(report, Severity::kError, {}), kExitInternal);
}

TEST_F(RunnerTest, ReadsEachSignalOnce) {
  Evidence evidence;
  evidence.Add(kPlain, RunWith(1));
  EXPECT_EQ(&evidence.Get<Steps>(kPlain), &evidence.Get<Steps>(kPlain));
}

TEST_F(RunnerTest, ExitCodesRankBrokenFindingsUndecidedNothing) {
  const Check plain = CheckOf("area/plain", Reads<&JudgePlain>());
  const Check failed = CheckOf("program/failed", Reads<&JudgePlain>());
  const Result passed{&plain, Outcome::kPassed, "", {}};
  Result warned{&plain, Outcome::kFailed, "", {}};
  warned.verdict.findings.push_back(SomeFinding(Severity::kWarning));
  const Result unseen{&plain, Outcome::kNotSeen, "nothing", {}};
  const Result broken{&plain, Outcome::kBroken, "broken", {}};
  const Result program{&failed, Outcome::kPassed, "", {}};
  const auto code = [](std::vector<Result> results, Severity fail_on,
                       std::vector<std::string> required = {}) {
    return ExitCodeOf({.results = std::move(results), .runs = {}, .coverage = {.training = true}},
                      fail_on, required);
  };
  EXPECT_EQ(code({passed}, Severity::kError), kExitClean);
  EXPECT_EQ(code({warned}, Severity::kError), kExitClean);
  EXPECT_EQ(code({warned}, Severity::kWarning), kExitFindings);
  EXPECT_EQ(code({warned, broken}, Severity::kWarning), kExitInternal);
  EXPECT_EQ(code({unseen, program}, Severity::kError), kExitNothing);
  EXPECT_EQ(code({passed, unseen}, Severity::kError), kExitClean);
  EXPECT_EQ(code({unseen}, Severity::kError, {"area/plain"}), kExitUndecided);
  EXPECT_EQ(code({warned, unseen}, Severity::kWarning, {"area/plain"}), kExitFindings);
  const Result set_aside{&plain, Outcome::kSetAside, "", {}};
  EXPECT_EQ(code({set_aside}, Severity::kNote, {"area/plain"}), kExitClean);
}

TEST_F(RunnerTest, PassesWithoutAnyTrainingAreNothing) {
  const Check plain = CheckOf("area/plain", Reads<&JudgePlain>());
  const Result passed{&plain, Outcome::kPassed, "", {}};
  EXPECT_EQ(ExitCodeOf({.results = {passed}, .runs = {}, .coverage = {}}, Severity::kError, {}),
            kExitNothing);
}

TEST_F(RunnerTest, RerunsNothingOnceAFindingStoppedThePlainRun) {
  plain_ending_ = {Ending::How::kStopped, 15, "area/plain"};
  const Check ladder = CheckOf("learnability/ladder", Reads<&JudgeLadder>());
  GatherWith(ladder);
  EXPECT_THAT(asked_, ElementsAre("plain-0"));
}

}  // namespace
}  // namespace dlcheck

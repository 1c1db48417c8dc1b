#include "diagnostics/exit_code.h"

#include <gtest/gtest.h>

#include "checks/catalog/catalog.h"

namespace dlcheck {
namespace {

Report Clean() {
  const Result passed{.check = FindCheck("optimizer/stale_gradients"),
                      .outcome = Outcome::kPassed,
                      .reason = "",
                      .verdict = {}};
  return {.results = {passed}, .runs = {}, .coverage = {.training = true}};
}

TEST(ExitCode, IsZeroForACleanReportOfWholeRecords) {
  const Exit exit = ExitOf(Clean(), {});
  EXPECT_EQ(exit.code, kExitClean);
  EXPECT_EQ(exit.reason, "clean");
}

TEST(ExitCode, IsNeverCleanWhereRecordsAreMissing) {
  Report report = Clean();
  report.recording.wholeness = Wholeness::kMissing;
  const Exit exit = ExitOf(report, {});
  EXPECT_EQ(exit.code, kExitNothing);
  EXPECT_EQ(exit.reason, "the records are not complete (--partial judges what is there)");
  EXPECT_EQ(ExitOf(report, {.partial = true}).code, kExitClean);
}

TEST(ExitCode, PutsDamageBeforeInterruptionBeforeTheDeadline) {
  Report report = Clean();
  report.recording.at_deadline = true;
  EXPECT_EQ(ExitOf(report, {}).code, kExitDeadline);
  EXPECT_EQ(ExitOf(report, {.interrupted = true}).code, kExitInterrupted);
  report.recording.wholeness = Wholeness::kDamaged;
  const Exit exit = ExitOf(report, {.interrupted = true});
  EXPECT_EQ(exit.code, kExitUsage);
  EXPECT_EQ(exit.reason, "the records are damaged (--partial judges what is left)");
  EXPECT_EQ(ExitOf(report, {.partial = true}).code, kExitDeadline);
}

TEST(ExitCode, RefusesARunWhoseProgramRefusedItsInput) {
  Report report = Clean();
  report.recording.rejected = "data.h5: no dataset x";
  EXPECT_EQ(ExitOf(report, {}).code, kExitUsage);
  EXPECT_EQ(ExitOf(report, {}).reason, "input rejected");
}

}  // namespace
}  // namespace dlcheck

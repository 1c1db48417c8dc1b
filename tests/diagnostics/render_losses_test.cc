#include "diagnostics/render/render_losses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlcheck {
namespace {

using testing::HasSubstr;
using testing::Not;

Report Lossy(const Experiment& experiment) {
  Report report;
  report.runs.push_back(
      {experiment, Ending(), "", {.damaged = {"block 2"}, .missing = {"no end"}}});
  return report;
}

TEST(RenderLosses, NamesTheExperimentButForThePlainRun) {
  EXPECT_THAT(RenderLosses(Lossy(kPlain)), HasSubstr("records damaged: block 2"));
  EXPECT_THAT(RenderLosses(Lossy(kPlain)), HasSubstr("records not complete: no end"));
  EXPECT_THAT(RenderLosses(Lossy(kSameSeed)), HasSubstr("records of same_seed, 64 steps damaged"));
}

TEST(RenderLosses, ShowsAFewAndSaysHowManyThereAre) {
  Report report;
  Losses many;
  for (int i = 0; i < 9; ++i) many.damaged.push_back("block " + std::to_string(i));
  report.runs.push_back({kPlain, Ending(), "", many});
  const std::string text = RenderLosses(report);
  EXPECT_THAT(text, HasSubstr("block 3"));
  EXPECT_THAT(text, Not(HasSubstr("block 4")));
  EXPECT_THAT(text, HasSubstr("result.json lists all 9"));
}

TEST(RenderRecording, SaysWhatAProbeCouldNotSeeAndWhatWasRefused) {
  const std::string text = RenderRecording({.rejected = "d.h5: no x", .gaps = {"one\ntwo"}});
  EXPECT_EQ(text, "dlcheck  one\\ntwo\ndlcheck: input rejected: d.h5: no x\n");
  EXPECT_EQ(RenderRecording({}), "");
}

}  // namespace
}  // namespace dlcheck

#include "diagnostics/render/render_processes.h"

#include <gtest/gtest.h>

#include "diagnostics/fingerprint.h"

namespace dlcheck {
namespace {

TEST(RenderProcesses, ShowsThemSideBySide) {
  std::vector<ProcessSummary> processes = {{.rank = 0,
                                            .steps = 1200,
                                            .last_loss = 0.25,
                                            .batch = 32,
                                            .step_seconds = 0.015,
                                            .own_seconds = 0.01,
                                            .ended = "finished"},
                                           {.rank = 1, .steps = 7, .last_loss = 2, .ended = ""}};
  EXPECT_EQ(RenderProcesses(processes, 2),
            "  rank  steps   last loss  batch  step       own part   ended\n"
            "  0     1,200   0.25       32     15 ms      10 ms      finished\n"
            "  1     7       2          0      -          -          not known\n");
  processes.resize(64);
  EXPECT_TRUE(RenderProcesses(processes, 2).ends_with("  and 48 more\n"));
  EXPECT_EQ(RenderProcesses({}, 2), "");
}

TEST(RenderProcesses, APlaceNamesItsRank) {
  const Place weight{.thing = "fc1.weight", .rank = 1, .file = ""};
  EXPECT_EQ(NameOf(weight), "fc1.weight (rank 1)");
  EXPECT_EQ(NameOf({.thing = "", .rank = 3, .file = ""}), "rank 3");
  EXPECT_EQ(NameOf({.thing = "fc1.weight", .file = ""}), "fc1.weight");
  const Finding finding{.severity = Severity::kError,
                        .message = "Parted.",
                        .places = {weight},
                        .first_step = 0,
                        .last_step = 0,
                        .count = 1,
                        .measured = 1,
                        .bound = 0};
  EXPECT_EQ(PlaceOf(finding), "fc1.weight (rank 1)");
}

}  // namespace
}  // namespace dlcheck

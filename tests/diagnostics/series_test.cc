// Series of a run: thinned so that extremes survive, worked out from several quantities, written
// and read again.
#include "diagnostics/series/series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "checks/engine/run_builder.h"
#include "diagnostics/series/sparkline.h"
#include "diagnostics/series/thinned.h"

namespace dlcheck {
namespace {

Series Thinned(const std::vector<StepValue>& samples, size_t most_points) {
  Series series;
  Thin(samples, most_points, series);
  return series;
}

TEST(Thin, KeepsExtremesOfAMillionSamples) {
  std::vector<StepValue> samples;
  for (int64_t step = 0; step < 1'000'000; ++step) samples.push_back({step, 1});
  samples[123'456].value = 50;
  samples[700'001].value = -3;
  const Series series = Thinned(samples, kMostPoints);
  EXPECT_EQ(series.buckets.size(), kMostPoints / 2);
  EXPECT_EQ(series.most, 50);
  EXPECT_EQ(series.least, -3);
  int high = 0, low = 0;
  for (const Bucket& bucket : series.buckets) {
    high += bucket.high == 50 && bucket.first_step <= 123'456 && bucket.last_step >= 123'456;
    low += bucket.low == -3 && bucket.first_step <= 700'001 && bucket.last_step >= 700'001;
  }
  EXPECT_EQ(high, 1);
  EXPECT_EQ(low, 1);
}

TEST(Thin, LeavesFewSamplesAsTheyAre) {
  const Series series = Thinned({{3, 0.5}, {7, 0.25}}, kMostPoints);
  ASSERT_EQ(series.buckets.size(), 2u);
  EXPECT_EQ(series.buckets[1].first_step, 7);
  EXPECT_EQ(series.buckets[1].low, 0.25);
  EXPECT_EQ(series.first, 0.5);
  EXPECT_EQ(series.last, 0.25);
}

TEST(Thin, CountsWhatIsNotFinite) {
  const Series series = Thinned({{0, 1}, {4, NAN}, {5, INFINITY}}, kMostPoints);
  EXPECT_EQ(series.samples, 1);
  EXPECT_EQ(series.nonfinite, 2);
  EXPECT_EQ(series.first_nonfinite, 4);
  EXPECT_EQ(Thinned({{2, NAN}}, kMostPoints).buckets.size(), 0u);
}

// Two steps of an optimizer with two parameters, and a file saved after them.
Run TwoSteps() {
  RunBuilder run;
  for (int step = 0; step < 2; ++step) {
    run.Quantity(Quantity::kLoss, "loss", "mse_loss", 2 - step);
    run.Owner("optimizer", "");
    run.Quantity(Quantity::kGradientNorm, "parameter", "a.weight", 3);
    run.Quantity(Quantity::kGradientNorm, "parameter", "b.weight", 4);
    run.Quantity(Quantity::kUpdateNorm, "parameter", "a.weight", 0.5);
    run.Quantity(Quantity::kWeightNorm, "parameter", "a.weight", 10);
    run.Owner("");
    run.Event(Event::kStep, 0, "optimizer", "");
  }
  run.Event(Event::kSaved, 0, "file", "model.pt");
  return run.Build();
}

TEST(ReadSeries, AddsUpTheGradientsOfAnOptimizer) {
  const SeriesOfRun run = ReadSeries(TwoSteps());
  const Series* total = Find(run, "total_gradient_norm");
  ASSERT_NE(total, nullptr);
  EXPECT_EQ(total->samples, 2);
  EXPECT_EQ(total->last, 5);
}

TEST(ReadSeries, DividesUpdatesByWeights) {
  const SeriesOfRun run = ReadSeries(TwoSteps());
  const Series* ratio = Find(run, "update_ratio", "a.weight");
  ASSERT_NE(ratio, nullptr);
  EXPECT_DOUBLE_EQ(ratio->last, 0.05);
  EXPECT_EQ(Find(run, "update_ratio", "b.weight"), nullptr);
}

TEST(ReadSeries, MarksWhatHappened) {
  const SeriesOfRun run = ReadSeries(TwoSteps());
  ASSERT_EQ(run.marks.size(), 1u);
  EXPECT_EQ(run.marks[0].event, "saved");
  EXPECT_EQ(run.marks[0].step, 2);
  EXPECT_EQ(run.steps, 2);
}

TEST(SeriesFile, IsReadAsItWasWritten) {
  const std::string text = RenderSeries(ReadSeries(TwoSteps()));
  const absl::StatusOr<SeriesOfRun> read = ParseSeries(text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(RenderSeries(*read), text);
  // tests/pages compares it with docs/series.schema.json.
  if (const char* folder = std::getenv("DLCHECK_PAGES")) {
    std::ofstream(std::string(folder) + "/series.json") << text;
  }
}

TEST(SeriesFile, OfAnotherKindOrCutOffIsRefused) {
  const std::string text = RenderSeries(ReadSeries(TwoSteps()));
  for (const std::string& other :
       {std::string("{}"), std::string("[1]"), text.substr(0, text.size() / 2),
        std::string(R"({"schema":"dlcheck-series/1","steps":"many"})")}) {
    EXPECT_EQ(ParseSeries(other).status().code(), absl::StatusCode::kInvalidArgument) << other;
  }
}

TEST(Sparkline, RisesAndFallsWithTheSeries) {
  EXPECT_EQ(Sparkline(Thinned({{0, 1}, {1, 0}, {2, 0.5}}, kMostPoints), 8), "█▁▅");
  EXPECT_EQ(Sparkline(Thinned({{0, 1}, {1, 1}}, kMostPoints), 8), "▁▁");
  EXPECT_EQ(Sparkline(Thinned({}, kMostPoints), 8), "");
  std::vector<StepValue> many;
  for (int64_t step = 0; step < 640; ++step) many.push_back({step, static_cast<double>(step)});
  EXPECT_EQ(Sparkline(Thinned(many, kMostPoints), 8), "▁▂▃▄▅▆▇█");
}

TEST(LossLine, TellsHowTheLossWent) {
  SeriesOfRun run;
  EXPECT_EQ(LossLine(run), "");
  run.series.push_back(Thinned({{0, 2}, {1, 1}, {2, 0.5}, {3, 1.25}}, kMostPoints));
  run.series.back().quantity = "loss";
  EXPECT_EQ(LossLine(run), "loss █▃▁▅ 2 at first, 1.25 at last, least 0.5");
  run.series.push_back(Thinned({{0, 2}, {1, 1}, {2, 1}, {7, NAN}, {8, 3}, {9, 3}}, kMostPoints));
  run.series.back().quantity = "loss";
  EXPECT_EQ(LossLine(run), "loss ▅▁▁██ 2 at first, 3 at last, least 1, not finite from step 7 on");
}

}  // namespace
}  // namespace dlcheck

// Rows of a heat map: one scale for all, and neighbors of one level in one piece.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "diagnostics/render/html/heat.h"

namespace dlcheck::html {
namespace {

Series Of(std::initializer_list<double> values) {
  Series series{.quantity = "gradient_norm", .thing = "a", .unit = "", .buckets = {}};
  int64_t step = 0;
  for (const double value : values) {
    series.buckets.push_back({step, step, value, value});
    ++step;
  }
  return series;
}

TEST(Heat, LevelsFollowTheLogarithmOfAllRows) {
  HeatScale scale;
  scale.Take(Of({1e-8, 1e-4}));
  scale.Take(Of({1}));
  EXPECT_EQ(scale.LevelOf(1e-8), 1);
  EXPECT_EQ(scale.LevelOf(1), HeatScale::kLevels);
  EXPECT_NEAR(scale.LevelOf(1e-4), HeatScale::kLevels / 2, 1);
  EXPECT_EQ(scale.LevelOf(0), 0);
  EXPECT_EQ(scale.LevelOf(-1), 0);
}

TEST(Heat, NeighborsOfOneLevelAreOnePieceAndZeroIsEmpty) {
  const Series series = Of({1, 1, 1, 0, 1e-6});
  HeatScale scale;
  scale.Take(series);
  pugi::xml_document document;
  AddHeat(document.append_child("td"), &series, scale);
  const Node strip = document.child("td").child("svg");
  ASSERT_EQ(std::distance(strip.begin(), strip.end()), 2);
  EXPECT_STREQ(strip.first_child().attribute("d").value(), "M4 0h1v1h-1z");
  EXPECT_STREQ(strip.last_child().attribute("d").value(), "M0 0h3v1h-3z");
}

TEST(Heat, AnEmptySeriesDrawsNothing) {
  pugi::xml_document document;
  AddHeat(document.append_child("td"), nullptr, HeatScale());
  EXPECT_TRUE(document.child("td").first_child().empty());
}

}  // namespace
}  // namespace dlcheck::html

// One row of a heat map: a number over the steps of a run, in a stronger color where it is larger.
#pragma once

#include "diagnostics/render/html/markup.h"
#include "diagnostics/series/series.h"

namespace dlcheck::html {

// The positive values of all rows, by their logarithm: rows can be compared with each other.
class HeatScale {
 public:
  void Take(const Series& series);
  // From 1 to kLevels; 0 for a value that is not positive.
  int LevelOf(double value) const;
  double low() const { return low_; }
  double high() const { return high_; }

  static constexpr int kLevels = 8;

 private:
  double low_ = 0, high_ = 0;  // 0: no value yet
};

// Nothing where the series is null or empty.
void AddHeat(Node cell, const Series* series, const HeatScale& scale);

}  // namespace dlcheck::html

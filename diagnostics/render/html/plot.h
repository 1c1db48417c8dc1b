// Curves over the steps of a run, as SVG with a title, a description and a table behind it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "diagnostics/render/html/markup.h"
#include "diagnostics/series/series.h"

namespace dlcheck::html {

inline constexpr size_t kMostLines = 6;  // of one plot
inline constexpr size_t kMostMarksDrawn = 60;

struct Line {
  std::string label;
  const Series* series;
  std::shared_ptr<const Series> own = nullptr;  // where no run holds the series
  bool is_band = false;                         // an area from the low to the high of each bucket
};

struct Plot {
  std::string id;       // in the page, unique
  std::string title;    // "Gradient norm of head.weight"
  std::string caption;  // what to see in it; may be empty
  std::vector<Line> lines;
  std::optional<std::pair<int64_t, int64_t>> shaded;  // steps that a finding is about
  bool from_zero = false;                             // the axis begins at 0, and is linear
  std::optional<double> level;                        // a dotted horizontal line
  std::span<const Mark> marks = {};                   // vertical lines
  bool zoomable = false;                              // holds its numbers for a script
  std::string axis = "step";                          // what the horizontal axis counts
};

// False, with nothing added, if no line has a number.
bool AddPlot(Node parent, const Plot& plot);

// Whether numbers between these two are drawn by their logarithm.
bool FarApart(double least, double most);

}  // namespace dlcheck::html

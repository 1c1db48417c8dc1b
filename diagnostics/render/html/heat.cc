#include "diagnostics/render/html/heat.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "checks/engine/text.h"

namespace dlcheck::html {
namespace {

constexpr size_t kMostCells = 24;

// The level of each cell: of the greatest value in its buckets.
std::vector<int> LevelsOf(const Series& series, const HeatScale& scale) {
  const std::vector<Bucket>& all = series.buckets;
  const size_t count = std::min(kMostCells, all.size());
  std::vector<int> levels;
  for (size_t i = 0; i < count; ++i) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(i * all.size() / count);
    const auto end = all.begin() + static_cast<std::ptrdiff_t>((i + 1) * all.size() / count);
    levels.push_back(scale.LevelOf(std::ranges::max_element(begin, end, {}, &Bucket::high)->high));
  }
  return levels;
}

}  // namespace

void HeatScale::Take(const Series& series) {
  for (const Bucket& bucket : series.buckets) {
    if (!(bucket.high > 0)) continue;
    high_ = std::max(high_, bucket.high);
    low_ = low_ == 0 ? bucket.high : std::min(low_, bucket.high);
  }
}

int HeatScale::LevelOf(double value) const {
  if (!(value > 0)) return 0;
  if (!(high_ > low_)) return kLevels;
  const double share = std::log(value / low_) / std::log(high_ / low_);
  return 1 + static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * (kLevels - 1)));
}

void AddHeat(Node cell, const Series* series, const HeatScale& scale) {
  if (series == nullptr || series->buckets.empty()) return;
  const std::vector<int> levels = LevelsOf(*series, scale);
  Node strip = Add(cell, "svg", "", "heat");
  Set(strip, "viewBox", StrCat("0 0 ", levels.size(), " 1"));
  Set(strip, "preserveAspectRatio", "none");
  Set(strip, "role", "img");
  Set(strip, "aria-label", StrCat("from ", Short(series->first), " to ", Short(series->last)));
  std::array<std::string, HeatScale::kLevels + 1> paths;  // of neighbors with one level together
  for (size_t i = 0; i < levels.size();) {
    size_t end = i;
    while (end < levels.size() && levels[end] == levels[i]) ++end;
    StrAppend(&paths[static_cast<size_t>(levels[i])], "M", i, " 0h", end - i, "v1h-", end - i, "z");
    i = end;
  }
  for (size_t level = 1; level < paths.size(); ++level) {
    if (!paths[level].empty()) Set(Add(strip, "path", "", StrCat("h", level)), "d", paths[level]);
  }
}

}  // namespace dlcheck::html

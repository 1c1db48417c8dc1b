#include "diagnostics/series/sparkline.h"

#include <algorithm>
#include <cmath>

#include "checks/engine/text.h"

namespace dlcheck {
namespace {

constexpr const char* kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr size_t kCells = 24;
constexpr double kFar = 30;  // ratio from which on values are told apart by their logarithm

}  // namespace

std::string Sparkline(const Series& series, size_t cells) {
  const std::vector<Bucket>& buckets = series.buckets;
  const size_t count = std::min(cells, buckets.size());
  const bool far = series.least > 0 && series.most / series.least > kFar;
  const auto place = [far](double value) { return far ? std::log(value) : value; };
  const double low = place(series.least), span = place(series.most) - low;
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    const size_t begin = i * buckets.size() / count, end = (i + 1) * buckets.size() / count;
    double sum = 0;
    for (size_t k = begin; k < end; ++k) sum += place(buckets[k].low) + place(buckets[k].high);
    const double mean = sum / (2 * static_cast<double>(end - begin));
    const double share = span > 0 ? std::clamp((mean - low) / span, 0.0, 1.0) : 0;
    text += kBlocks[static_cast<size_t>(std::lround(share * 7))];
  }
  return text;
}

std::string LossLine(const SeriesOfRun& run) {
  const Series* loss = nullptr;
  for (const Series& series : run.series) {
    if (series.quantity != "loss" || series.rank != 0) continue;
    if (loss == nullptr || series.samples > loss->samples) loss = &series;
  }
  if (loss == nullptr || loss->samples < 2) return "";
  std::string text =
      StrCat("loss ", Sparkline(*loss, kCells), " ", Short(loss->first), " at first, ",
             Short(loss->last), " at last, least ", Short(loss->least));
  if (loss->nonfinite > 0) {
    StrAppend(&text, ", not finite from step ", WithCommas(loss->first_nonfinite), " on");
  }
  return text;
}

}  // namespace dlcheck

#include "diagnostics/series/series.h"

#include <algorithm>
#include <map>

#include "diagnostics/series/collected.h"
#include "diagnostics/series/drawn.h"

namespace dlcheck {
namespace {

void AddMarks(const Trace& trace, SeriesOfRun& run) {
  std::map<uint16_t, double> steps;  // by process
  for (const Occurrence& event : trace.Events()) {
    if (event.event == Event::kStep) steps[event.rank] += event.count;
    if (event.gap || std::ranges::find(kMarked, event.event) == std::end(kMarked)) continue;
    if (run.marks.size() == kMostMarks) {
      ++run.marks_left_out;
      continue;
    }
    run.marks.push_back({.event = std::string(EventName(event.event)),
                         .thing = event.thing == 0 ? "" : trace.Display(event.thing),
                         .step = event.step,
                         .rank = event.rank});
  }
  for (const auto& [rank, count] : steps) {
    run.steps = std::max(run.steps, static_cast<int64_t>(count));
  }
}

}  // namespace

SeriesOfRun ReadSeries(const Run& run) {
  SeriesOfRun result;
  const std::vector<Collected> all = CollectSamples(run.trace);
  const size_t most =
      std::clamp(kMostPointsOfRun / std::max<size_t>(1, all.size()), kFewestPoints, kMostPoints);
  for (const Collected& one : all) {
    result.series.push_back({.quantity = one.quantity,
                             .thing = one.thing,
                             .unit = one.unit,
                             .rank = one.rank,
                             .buckets = {}});
    Thin(one.samples, most, result.series.back());
  }
  AddMarks(run.trace, result);
  return result;
}

const Series* Find(const SeriesOfRun& run, std::string_view quantity, std::string_view thing) {
  for (const Series& series : run.series) {
    const bool fits = thing.empty() || series.thing == thing;
    if (series.rank == 0 && series.quantity == quantity && fits) return &series;
  }
  return nullptr;
}

}  // namespace dlcheck

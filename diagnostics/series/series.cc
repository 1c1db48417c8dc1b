#include "diagnostics/series/series.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "diagnostics/series/drawn.h"
#include "diagnostics/series/thinned.h"

namespace dlcheck {
namespace {

using Samples = std::vector<StepValue>;

// All samples of a run, by what will be a series: quantity, thing as reports show it, process.
class Collector {
 public:
  explicit Collector(const Trace& trace) : trace_(trace) {}

  void AddDrawn() {
    for (const auto& [quantity, unit, factor] : kDrawn) {
      for (const ThingId thing : trace_.ThingsWith(quantity)) {
        for (const Sample& sample : trace_.Series(quantity, thing)) {
          Of(QuantityName(quantity), Shown(thing), unit, sample.rank)
              .push_back({sample.step, factor * sample.value});
        }
      }
    }
  }

  // A gradient that is not finite makes the norm of all so.
  void AddTotals() {
    std::map<std::tuple<ThingId, int, int64_t>, double> squares;  // by optimizer, process and step
    for (const ThingId thing : trace_.ThingsWith(Quantity::kGradientNorm)) {
      for (const Sample& sample : trace_.Series(Quantity::kGradientNorm, thing)) {
        squares[{sample.owner, sample.rank, sample.step}] += sample.value * sample.value;
      }
    }
    for (const auto& [key, sum] : squares) {
      const auto& [owner, rank, step] = key;
      Of(kTotalGradientNorm, Shown(owner), "", rank).push_back({step, std::sqrt(sum)});
    }
  }

  void AddRatios() {
    for (const ThingId thing : trace_.ThingsWith(Quantity::kUpdateNorm)) {
      std::map<std::pair<int, int64_t>, double> weights;  // by process and step
      for (const Sample& sample : trace_.Series(Quantity::kWeightNorm, thing)) {
        weights[{sample.rank, sample.step}] = sample.value;
      }
      for (const Sample& sample : trace_.Series(Quantity::kUpdateNorm, thing)) {
        const auto weight = weights.find({sample.rank, sample.step});
        if (weight == weights.end() || weight->second <= 0) continue;
        Of(kUpdateRatio, Shown(thing), "", sample.rank)
            .push_back({sample.step, sample.value / weight->second});
      }
    }
  }

  std::vector<Series> Finish() const {
    const size_t most = std::clamp(kMostPointsOfRun / std::max<size_t>(1, series_.size()),
                                   kFewestPoints, kMostPoints);
    std::vector<Series> result;
    for (size_t i = 0; i < series_.size(); ++i) {
      result.push_back(series_[i]);
      Thin(samples_[i], most, result.back());
    }
    return result;
  }

 private:
  std::string Shown(ThingId thing) const { return thing == 0 ? "" : trace_.Display(thing); }

  Samples& Of(std::string_view quantity, const std::string& thing, std::string_view unit,
              int rank) {
    const auto [place, fresh] =
        places_.try_emplace({std::string(quantity), thing, rank}, series_.size());
    if (fresh) {
      series_.push_back({.quantity = std::string(quantity),
                         .thing = thing,
                         .unit = std::string(unit),
                         .rank = rank,
                         .buckets = {}});
      samples_.emplace_back();
    }
    return samples_[place->second];
  }

  const Trace& trace_;
  std::map<std::tuple<std::string, std::string, int>, size_t> places_;
  std::vector<Series> series_;  // by first sample
  std::vector<Samples> samples_;
};

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
  Collector collector(run.trace);
  collector.AddDrawn();
  collector.AddTotals();
  collector.AddRatios();
  result.series = collector.Finish();
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

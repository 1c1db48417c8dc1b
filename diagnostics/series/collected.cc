#include "diagnostics/series/collected.h"

#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "diagnostics/series/drawn.h"

namespace dlcheck {
namespace {

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

  std::vector<Collected> Finish() { return std::move(collected_); }

 private:
  std::string Shown(ThingId thing) const { return thing == 0 ? "" : trace_.Display(thing); }

  std::vector<StepValue>& Of(std::string_view quantity, const std::string& thing,
                             std::string_view unit, int rank) {
    const auto [place, fresh] =
        places_.try_emplace({std::string(quantity), thing, rank}, collected_.size());
    if (fresh) {
      collected_.push_back({.quantity = std::string(quantity),
                            .thing = thing,
                            .unit = std::string(unit),
                            .rank = rank,
                            .samples = {}});
    }
    return collected_[place->second].samples;
  }

  const Trace& trace_;
  std::map<std::tuple<std::string, std::string, int>, size_t> places_;
  std::vector<Collected> collected_;  // by first sample
};

}  // namespace

std::vector<Collected> CollectSamples(const Trace& trace) {
  Collector collector(trace);
  collector.AddDrawn();
  collector.AddTotals();
  collector.AddRatios();
  return collector.Finish();
}

}  // namespace dlcheck

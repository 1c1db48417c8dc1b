#include "diagnostics/compare/outcome.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "checks/engine/text.h"

namespace dlcheck {
namespace {

constexpr double kLastPart = 0.1;  // of the steps, whose mean training loss stands for a run
constexpr size_t kFewestRuns = 2;  // of each program, for an interval

std::optional<double> LastEvaluation(const SeriesOfRun& run) {
  const Series* series = Find(run, "evaluation_loss");
  if (series == nullptr || series->samples == 0) return std::nullopt;
  return series->last;
}

std::optional<double> LastTraining(const SeriesOfRun& run) {
  const Series* series = Find(run, "loss");
  if (series == nullptr || series->buckets.empty()) return std::nullopt;
  const size_t count = series->buckets.size();
  const auto last = static_cast<size_t>(std::ceil(kLastPart * static_cast<double>(count)));
  double sum = 0;
  for (size_t i = count - last; i < count; ++i) {
    sum += (series->buckets[i].low + series->buckets[i].high) / 2;
  }
  return sum / static_cast<double>(last);
}

using Measure = std::optional<double> (*)(const SeriesOfRun&);

// Empty unless all runs have the number.
std::vector<double> AllOf(const std::vector<const SeriesOfRun*>& runs, Measure measure) {
  std::vector<double> values;
  for (const SeriesOfRun* run : runs) {
    const std::optional<double> value = measure(*run);
    if (!value.has_value()) return {};
    values.push_back(*value);
  }
  return values;
}

// Of the mean.
double VarianceOf(const std::vector<double>& values) {
  const double mean = MeanOf(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  const auto count = static_cast<double>(values.size());
  return sum / (count - 1) / count;
}

// The 97.5 % point of Student's t. Source: tables of the distribution.
double StudentPoint(double freedom) {
  constexpr double kPoints[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
                                2.306,  2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
                                2.131,  2.120, 2.110, 2.101, 2.093, 2.086};
  const auto place = static_cast<size_t>(std::max(1.0, std::floor(freedom)));
  return place <= std::size(kPoints) ? kPoints[place - 1] : 2.086;
}

// Welch's interval: the two programs may scatter unequally.
void Compare(LossOutcome& outcome) {
  const double a = VarianceOf(outcome.of_a), b = VarianceOf(outcome.of_b);
  const double difference = MeanOf(outcome.of_b) - MeanOf(outcome.of_a);
  const auto count_a = static_cast<double>(outcome.of_a.size());
  const auto count_b = static_cast<double>(outcome.of_b.size());
  const double spread = a * a / (count_a - 1) + b * b / (count_b - 1);
  const double freedom = spread > 0 ? (a + b) * (a + b) / spread : 1;
  const double half = StudentPoint(freedom) * std::sqrt(a + b);
  outcome.low = difference - half;
  outcome.high = difference + half;
  if (outcome.high < 0) {
    outcome.b = Better::kBetter;
  } else if (outcome.low > 0) {
    outcome.b = Better::kWorse;
  } else {
    outcome.reason = "the interval of the difference contains 0";
  }
}

}  // namespace

double MeanOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

std::string_view BetterName(Better better) {
  switch (better) {
    case Better::kSame:
      return "the same";
    case Better::kBetter:
      return "better";
    case Better::kWorse:
      return "worse";
    case Better::kUnknown:
      break;
  }
  return "not to be told";
}

LossOutcome LossOutcomeOf(const std::vector<const SeriesOfRun*>& a,
                          const std::vector<const SeriesOfRun*>& b, bool equal) {
  LossOutcome outcome;
  constexpr std::pair<const char*, Measure> kMeasures[] = {
      {"last evaluation loss", LastEvaluation},
      {"mean training loss of the last tenth", LastTraining}};
  for (const auto& [name, measure] : kMeasures) {
    outcome.of_a = AllOf(a, measure);
    outcome.of_b = AllOf(b, measure);
    outcome.measure = name;
    if (!outcome.of_a.empty() && !outcome.of_b.empty()) break;
  }
  if (outcome.of_a.empty() || outcome.of_b.empty()) {
    return {.b = equal ? Better::kSame : Better::kUnknown,
            .measure = "",
            .of_a = {},
            .of_b = {},
            .reason = "no loss that both have was recorded"};
  }
  if (equal) {
    outcome.b = Better::kSame;
  } else if (std::min(outcome.of_a.size(), outcome.of_b.size()) < kFewestRuns) {
    outcome.reason = "one run of each does not show how far seeds scatter";
  } else {
    Compare(outcome);
  }
  return outcome;
}

}  // namespace dlcheck

#include <nlohmann/json.hpp>

#include "checks/engine/text.h"
#include "diagnostics/series/series.h"

namespace dlcheck {
namespace {

using Json = nlohmann::ordered_json;

Series SeriesIn(const Json& json) {
  Series series{.quantity = json.at("quantity"),
                .thing = json.at("thing"),
                .unit = json.at("unit"),
                .rank = json.at("rank"),
                .buckets = {},
                .samples = json.at("samples"),
                .nonfinite = json.value("nonfinite", int64_t{0}),
                .first_nonfinite = json.value("first_nonfinite", int64_t{-1}),
                .first = json.value("first", 0.0),
                .last = json.value("last", 0.0),
                .least = json.value("least", 0.0),
                .most = json.value("most", 0.0)};
  for (const Json& bucket : json.at("buckets")) {
    series.buckets.push_back({.first_step = bucket.at(0),
                              .last_step = bucket.at(1),
                              .low = bucket.at(2),
                              .high = bucket.at(3)});
  }
  return series;
}

}  // namespace

absl::StatusOr<SeriesOfRun> ParseSeries(const std::string& text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("schema", "") != kSeriesSchema) {
    return absl::InvalidArgumentError("series.json is not a file of series of this version");
  }
  try {
    SeriesOfRun run{.steps = json.at("steps"),
                    .series = {},
                    .marks = {},
                    .marks_left_out = json.at("marks_left_out")};
    for (const Json& series : json.at("series")) run.series.push_back(SeriesIn(series));
    for (const Json& mark : json.at("marks")) {
      run.marks.push_back({.event = mark.at("event"),
                           .thing = mark.at("thing"),
                           .step = mark.at("step"),
                           .rank = mark.at("rank")});
    }
    return run;
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(StrCat("series.json is damaged: ", error.what()));
  }
}

}  // namespace dlcheck

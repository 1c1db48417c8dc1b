#include <nlohmann/json.hpp>

#include "diagnostics/series/series.h"

namespace dlcheck {
namespace {

using Json = nlohmann::ordered_json;

Json RenderOne(const Series& series) {
  Json buckets = Json::array();
  for (const Bucket& bucket : series.buckets) {
    buckets.push_back({bucket.first_step, bucket.last_step, bucket.low, bucket.high});
  }
  Json json = {{"quantity", series.quantity},
               {"thing", series.thing},
               {"unit", series.unit},
               {"rank", series.rank},
               {"samples", series.samples}};
  if (series.samples > 0) {
    json["first"] = series.first;
    json["last"] = series.last;
    json["least"] = series.least;
    json["most"] = series.most;
  }
  if (series.nonfinite > 0) {
    json["nonfinite"] = series.nonfinite;
    json["first_nonfinite"] = series.first_nonfinite;
  }
  json["buckets"] = std::move(buckets);
  return json;
}

Json RenderMark(const Mark& mark) {
  return {{"event", mark.event}, {"thing", mark.thing}, {"step", mark.step}, {"rank", mark.rank}};
}

}  // namespace

std::string RenderSeries(const SeriesOfRun& run) {
  Json json = {{"schema", kSeriesSchema},
               {"steps", run.steps},
               {"series", Json::array()},
               {"marks", Json::array()},
               {"marks_left_out", run.marks_left_out}};
  for (const Series& series : run.series) json["series"].push_back(RenderOne(series));
  for (const Mark& mark : run.marks) json["marks"].push_back(RenderMark(mark));
  // A name that is not UTF-8 is shown with U+FFFD.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace dlcheck

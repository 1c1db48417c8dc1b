// What a report can draw of a run: numbers over its steps, thinned out so that extremes survive,
// and what happened meanwhile. Holds names and numbers only, as the records do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

// Each series has at most this many points, two for each bucket of neighboring samples.
inline constexpr size_t kMostPoints = 2000;
// Of all series of a run together; with many layers, each has fewer.
inline constexpr size_t kMostPointsOfRun = 400'000;
inline constexpr size_t kFewestPoints = 64;
inline constexpr size_t kMostMarks = 2000;

// The least and the largest finite value of neighboring samples.
struct Bucket {
  int64_t first_step = 0, last_step = 0;
  double low = 0, high = 0;
};

struct Series {
  std::string quantity;  // "gradient_norm"; names of quantity.def and of kDerived
  std::string thing;     // "head.weight", "optimizer#0/group#0"; empty for the whole run
  std::string unit;      // "s", "MiB"
  int rank = 0;          // process that recorded it
  std::vector<Bucket> buckets;
  int64_t samples = 0;                              // finite ones
  int64_t nonfinite = 0;                            // samples that are infinite or no number
  int64_t first_nonfinite = -1;                     // step; -1 if none
  double first = 0, last = 0, least = 0, most = 0;  // of the finite samples
};

// Something that happened once: a file saved, an evaluation, a step that was skipped.
struct Mark {
  std::string event;  // name in event.def
  std::string thing;
  int64_t step = 0;
  int rank = 0;
};

struct SeriesOfRun {
  int64_t steps = 0;  // step calls seen or counted, of the process with most
  std::vector<Series> series;
  std::vector<Mark> marks;
  int64_t marks_left_out = 0;
};

// Time grows with the records of the run, memory with the result.
SeriesOfRun ReadSeries(const Run& run);

// The series of a quantity, of a thing if one is given; null if there is none. Of the first
// process.
const Series* Find(const SeriesOfRun& run, std::string_view quantity, std::string_view thing = "");

inline constexpr char kSeriesSchema[] = "dlcheck-series/1";

// series.json: the format is docs/series.schema.json.
std::string RenderSeries(const SeriesOfRun& run);

// The inverse. Errors: InvalidArgument if the text is no series.json of this version.
absl::StatusOr<SeriesOfRun> ParseSeries(const std::string& text);

}  // namespace dlcheck

#include <algorithm>
#include <vector>

#include "checks/engine/text.h"
#include "diagnostics/render/html/plot.h"
#include "diagnostics/render/html/sections.h"

namespace dlcheck::html {
namespace {

constexpr size_t kMostMetrics = 24;  // of the program's own, with a plot each

struct Track {
  std::string_view quantity, title;
};

constexpr Track kTracks[] = {{"loss", "Loss"},
                             {"evaluation_loss", "Loss of the evaluations"},
                             {"total_gradient_norm", "Norm of all gradients"},
                             {"learning_rate", "Learning rate"},
                             {"loss_scale", "Loss scale"}};
constexpr Track kTimes[] = {{"step_time", "Seconds from one step to the next"},
                            {"loader_wait", "Seconds that a step waited for data"},
                            {"forward_time", "Seconds of a step in forward"},
                            {"backward_time", "Seconds of a step in backward"},
                            {"optimizer_time", "Seconds of a step in the optimizer"},
                            {"device_idle", "Share of the step in which the accelerator was idle"},
                            {"resident_memory", "Resident memory in MiB"},
                            {"memory", "Peak memory in MiB"}};

// All series of the first process, in one plot; of several, at most kMostLines.
void AddTrack(Node section, const Page& page, const Track& track, bool from_zero) {
  Plot plot{.id = StrCat("series-", track.quantity),
            .title = std::string(track.title),
            .caption = "",
            .lines = {},
            .shaded = std::nullopt,
            .from_zero = from_zero,
            .level = std::nullopt,
            .marks = page.series.marks,
            .zoomable = true};
  size_t left_out = 0;
  for (const Series& series : page.series.series) {
    if (series.quantity != track.quantity || series.rank != 0 || series.samples == 0) continue;
    if (plot.lines.size() == kMostLines) {
      ++left_out;
    } else {
      const bool is_named = !series.thing.empty();
      plot.lines.push_back({is_named ? series.thing : std::string(track.title), &series});
    }
  }
  if (left_out > 0) plot.caption = StrCat(left_out, " more are in series.json.");
  AddPlot(section, plot);
}

// Numbers that the program logged: each has a scale of its own.
void AddMetrics(Node section, const Page& page) {
  size_t count = 0;
  for (const Series& series : page.series.series) {
    if (series.quantity != "metric" || series.rank != 0 || series.samples == 0) continue;
    if (++count > kMostMetrics) continue;
    AddPlot(section, {.id = StrCat("metric-", count),
                      .title = StrCat("Logged: ", Cut(series.thing, kLongestName)),
                      .caption = "",
                      .lines = {{series.thing, &series}},
                      .shaded = std::nullopt,
                      .level = std::nullopt,
                      .zoomable = true});
  }
  if (count > kMostMetrics) {
    Add(section, "p", StrCat(count - kMostMetrics, " more logged numbers are in series.json."));
  }
}

constexpr Track kParts[] = {{"loader_wait", "waiting for data"},
                            {"forward_time", "forward"},
                            {"backward_time", "backward"},
                            {"optimizer_time", "optimizer"}};
constexpr Track kBetween[] = {{"evaluation_time", "evaluations"}, {"saving_time", "saving files"}};

// The median of the middles of buckets: single slow steps do not count.
double Middle(const Series& series) {
  std::vector<double> middles;
  for (const Bucket& bucket : series.buckets) middles.push_back((bucket.low + bucket.high) / 2);
  std::ranges::nth_element(middles,
                           middles.begin() + static_cast<std::ptrdiff_t>(middles.size() / 2));
  return middles[middles.size() / 2];
}

// What a step of the median length is made of, and which part bounds it.
void AddShares(Node section, const Page& page) {
  const Series* all = Find(page.series, "step_time");
  if (all == nullptr || all->samples == 0 || Middle(*all) <= 0) return;
  const double step = Middle(*all);
  double rest = step, most = 0;
  std::string_view bound;
  std::vector<std::pair<std::string_view, double>> parts;
  for (const Track& part : kParts) {
    const Series* series = Find(page.series, part.quantity);
    if (series == nullptr || series->samples == 0) continue;
    const double seconds = Middle(*series);
    parts.emplace_back(part.title, seconds);
    rest -= seconds;
    if (seconds > most) bound = part.title;
    most = std::max(most, seconds);
  }
  if (parts.empty()) return;
  parts.emplace_back("the rest, the cost of watching included", std::max(0.0, rest));
  if (most > step / 2) {
    Add(section, "p",
        StrCat("Most of a step is ", bound, ": ", Short(100 * most / step), " % of its time."));
  }
  Node table = AddTable(section, "Medians of the sampled steps, time of the host",
                        {"Part", "Seconds", "Share"});
  for (const auto& [title, seconds] : parts) {
    AddRow(table, {std::string(title), Short(seconds), StrCat(Short(100 * seconds / step), " %")});
  }
}

// What happens between steps.
void AddBetween(Node section, const Page& page) {
  std::vector<std::vector<std::string>> rows;
  for (const Track& part : kBetween) {
    const Series* series = Find(page.series, part.quantity);
    if (series == nullptr || series->samples == 0) continue;
    rows.push_back({std::string(part.title), WithCommas(series->samples), Short(Middle(*series))});
  }
  if (rows.empty()) return;
  Node table = AddTable(section, "Between steps", {"Part", "Times recorded", "Seconds (median)"});
  for (const auto& row : rows) AddRow(table, row);
}

}  // namespace

void AddTimeline(Node main, const Page& page) {
  Node section = AddSection(main, "timeline", "Timeline");
  for (const Track& track : kTracks) AddTrack(section, page, track, false);
  AddMetrics(section, page);
  if (section.last_child() == section.first_child()) {
    Add(section, "p", "No loss, gradient or learning rate was recorded.");
  }
}

void AddStepTimes(Node main, const Page& page) {
  if (Find(page.series, "step_time") == nullptr) return;
  Node section = AddSection(main, "step", "Time and memory of a step");
  AddShares(section, page);
  AddBetween(section, page);
  for (const Track& track : kTimes) AddTrack(section, page, track, true);
}

}  // namespace dlcheck::html

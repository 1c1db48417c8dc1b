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

double Middle(const Series& series) {
  double sum = 0;
  for (const Bucket& bucket : series.buckets) sum += (bucket.low + bucket.high) / 2;
  return sum / static_cast<double>(series.buckets.size());
}

// What share of a step was waiting for data.
void AddShares(Node section, const Page& page) {
  const Series* all = Find(page.series, "step_time");
  const Series* waiting = Find(page.series, "loader_wait");
  if (all == nullptr || waiting == nullptr || all->samples == 0 || waiting->samples == 0) return;
  const double step = Middle(*all), wait = Middle(*waiting);
  if (step <= 0) return;
  Node table = AddTable(section, "Mean of the sampled steps", {"Part", "Seconds", "Share"});
  AddRow(table, {"waiting for data", Short(wait), StrCat(Short(100 * wait / step), " %")});
  AddRow(table, {"the rest of the step", Short(step - wait),
                 StrCat(Short(100 * (step - wait) / step), " %")});
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
  for (const Track& track : kTimes) AddTrack(section, page, track, true);
}

}  // namespace dlcheck::html

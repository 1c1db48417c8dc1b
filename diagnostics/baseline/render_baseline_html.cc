#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "checks/engine/text.h"
#include "diagnostics/baseline/baseline_result.h"
#include "diagnostics/render/html/document.h"
#include "diagnostics/render/html/plot.h"

namespace dlcheck {
namespace html {
namespace {

constexpr size_t kMostWindows = 60;  // a curve of single batches shows nothing but their noise

// The mean over the finite losses of the steps from `begin` to before `end`; NaN if there are none.
double MeanOfSteps(const std::vector<double>& losses, size_t begin, size_t end) {
  double sum = 0;
  size_t count = 0;
  for (size_t step = begin; step < std::min(end, losses.size()); ++step) {
    if (!std::isfinite(losses[step])) continue;
    sum += losses[step];
    ++count;
  }
  return count == 0 ? NAN : sum / static_cast<double>(count);
}

// Means over windows of steps: from the lowest to the highest of the seeds.
std::shared_ptr<const Series> Band(const std::vector<std::vector<double>>& seeds, size_t steps) {
  auto series = std::make_shared<Series>();
  series->quantity = "loss";
  series->least = std::numeric_limits<double>::infinity();
  series->most = -series->least;
  const size_t windows = std::min(kMostWindows, steps);
  for (size_t window = 0; window < windows; ++window) {
    const size_t begin = window * steps / windows, end = (window + 1) * steps / windows;
    Bucket bucket{.first_step = static_cast<int64_t>(begin + end) / 2,
                  .last_step = static_cast<int64_t>(end) - 1,
                  .low = std::numeric_limits<double>::infinity(),
                  .high = -std::numeric_limits<double>::infinity()};
    for (const std::vector<double>& losses : seeds) {
      const double mean = MeanOfSteps(losses, begin, end);
      if (!std::isfinite(mean)) continue;
      bucket.low = std::min(bucket.low, mean);
      bucket.high = std::max(bucket.high, mean);
    }
    if (bucket.low > bucket.high) continue;
    if (series->buckets.empty()) series->first = bucket.low;
    series->last = bucket.low;
    series->least = std::min(series->least, bucket.low);
    series->most = std::max(series->most, bucket.high);
    series->buckets.push_back(bucket);
  }
  return series;
}

size_t StepsOf(const BaselineResult& result) {
  size_t steps = result.losses.size();
  for (const auto& baseline : result.baselines) {
    for (const std::vector<double>& losses : baseline.losses)
      steps = std::max(steps, losses.size());
  }
  return steps;
}

void AddCurves(Node main, const BaselineResult& result) {
  Node section = AddSection(main, "curves", "Training loss on the same batches");
  Plot plot{.id = "losses",
            .title = "Training loss",
            .caption =
                "Means over neighboring steps. A band holds all three seeds of a model. The "
                "dotted line is the loss of the best constant prediction.",
            .lines = {},
            .shaded = std::nullopt,
            .level = result.constant};
  const auto add = [&](const std::string& label, const std::vector<std::vector<double>>& seeds) {
    auto series = Band(seeds, StepsOf(result));
    plot.lines.push_back({label, series.get(), series, /*is_band=*/seeds.size() > 1});
  };
  if (!result.losses.empty()) add("this program", {result.losses});
  for (const auto& baseline : result.baselines) {
    if (plot.lines.size() < kMostLines) add(baseline.name, baseline.losses);
  }
  if (!AddPlot(section, plot)) Add(section, "p", "No loss is finite.");
}

void AddBaselines(Node main, const BaselineResult& result) {
  Node section = AddSection(main, "models", "Models");
  Node table = AddTable(section, "Mean loss of the last tenth of the steps, lower is better",
                        {"Model", "Lowest seed", "Highest seed", "Learning rate", "Step in ms"});
  AddRow(table, {"best constant prediction", Short(result.constant), "", "", ""});
  if (const size_t steps = result.losses.size(); steps > 0) {
    const size_t late = steps - std::max<size_t>(steps / 10, 1);
    AddRow(table, {"this program", Short(MeanOfSteps(result.losses, late, steps)), "", "",
                   std::isnan(result.milliseconds) ? "" : Short(result.milliseconds)});
  }
  for (const auto& baseline : result.baselines) {
    if (baseline.late_losses.empty()) continue;
    AddRow(table,
           {baseline.name, Short(baseline.late_losses.front()), Short(baseline.late_losses.back()),
            Short(baseline.rate), Short(baseline.milliseconds)});
  }
}

}  // namespace
}  // namespace html

std::string RenderBaselineHtml(const BaselineResult& result, const std::string& source) {
  pugi::xml_document document;
  html::Node body = document.append_child("body");
  html::Node header = html::Add(body, "header");
  html::Set(html::Add(header, "a", "Skip to the curves", "skip"), "href", "#curves");
  html::Add(header, "h1", StrCat("dlcheck reference: ", result.severity), "verdict");
  html::Add(header, "p", result.text);
  if (!result.weak.empty()) html::Add(header, "p", result.weak);
  html::Node line = html::Add(header, "p");
  html::AddText(line, result.losses.empty() ? "Data: " : "Run: ");
  html::AddName(line, source);
  html::Node main = html::Add(body, "main");
  html::AddCurves(main, result);
  html::AddBaselines(main, result);
  html::AddContents(main);
  return html::DocumentOf("dlcheck reference", body);
}

}  // namespace dlcheck

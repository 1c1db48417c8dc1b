#include "diagnostics/render/html/plot.h"

#include <algorithm>
#include <cmath>

#include "checks/engine/text.h"
#include "diagnostics/render/html/numbers.h"
#include "diagnostics/render/html/scale.h"

namespace dlcheck::html {
namespace {

constexpr double kWidth = 720, kHeight = 230;
constexpr double kLeft = 64, kRight = 12, kTop = 12, kBottom = 34;
constexpr size_t kRowsOfTable = 20;
constexpr double kTenfold = 30;  // largest ratio that a linear scale shows well

struct Range {
  double low = INFINITY, high = -INFINITY;
  void Add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

std::string At(double place) {
  const std::string text = std::to_string(std::round(place * 10) / 10);
  return text.substr(0, text.find('.') + 2);
}

struct Canvas {
  Node svg;
  Scale x, y;
};

void AddLine(Node svg, double x1, double y1, double x2, double y2, std::string_view look) {
  Node line = Add(svg, "line", "", look);
  Set(line, "x1", At(x1));
  Set(line, "y1", At(y1));
  Set(line, "x2", At(x2));
  Set(line, "y2", At(y2));
}

void AddLabel(Node svg, double x, double y, std::string_view text, std::string_view look) {
  Node label = Add(svg, "text", text, look);
  Set(label, "x", At(x));
  Set(label, "y", At(y));
}

void AddAxes(const Canvas& canvas, const std::string& axis) {
  for (const auto& [value, text] : canvas.y.Ticks()) {
    const double y = canvas.y(value);
    AddLine(canvas.svg, kLeft, y, kWidth - kRight, y, "grid");
    AddLabel(canvas.svg, kLeft - 6, y + 4, text, "tick end");
  }
  for (const auto& [value, text] : canvas.x.Ticks()) {
    if (value != std::floor(value)) continue;
    const double x = canvas.x(value);
    AddLine(canvas.svg, x, kHeight - kBottom, x, kHeight - kBottom + 4, "axis");
    AddLabel(canvas.svg, x, kHeight - kBottom + 17, text, "tick middle");
  }
  AddLine(canvas.svg, kLeft, kHeight - kBottom, kWidth - kRight, kHeight - kBottom, "axis");
  AddLabel(canvas.svg, kWidth - kRight, kHeight - 3, axis, "tick end");
}

void AddBand(const Canvas& canvas, const Series& series, size_t number) {
  std::string path;
  const auto add = [&](const Bucket& bucket, double value) {
    StrAppend(&path, path.empty() ? "M" : "L", At(canvas.x(static_cast<double>(bucket.first_step))),
              " ", At(canvas.y(value)));
  };
  for (const Bucket& bucket : series.buckets) add(bucket, bucket.low);
  for (auto at = series.buckets.rbegin(); at != series.buckets.rend(); ++at) add(*at, at->high);
  Set(Add(canvas.svg, "path", "", StrCat("band c", number)), "d", path + "Z");
}

void AddCurve(const Canvas& canvas, const Series& series, size_t number) {
  std::string path;
  for (const Bucket& bucket : series.buckets) {
    const double x = canvas.x(static_cast<double>(bucket.first_step));
    StrAppend(&path, path.empty() ? "M" : "L", At(x), " ", At(canvas.y(bucket.low)));
    if (bucket.high != bucket.low) StrAppend(&path, "L", At(x), " ", At(canvas.y(bucket.high)));
  }
  if (series.buckets.size() == 1) path += "h3";
  Set(Add(canvas.svg, "path", "", StrCat("curve c", number)), "d", path);
  if (series.first_nonfinite < 0) return;
  const double x = canvas.x(static_cast<double>(series.first_nonfinite));
  AddLine(canvas.svg, x, kTop, x, kHeight - kBottom, "nonfinite");
  const bool at_end = x > 0.8 * kWidth;
  AddLabel(canvas.svg, at_end ? x - 3 : x + 3, kTop + 10, "first non-finite",
           at_end ? "tick end" : "tick");
}

// Nothing where it would be the whole plot.
void AddShade(const Canvas& canvas, const std::pair<int64_t, int64_t>& steps) {
  const double begin = canvas.x(static_cast<double>(steps.first));
  const double end = canvas.x(static_cast<double>(steps.second));
  if (end - begin > 0.95 * (kWidth - kLeft - kRight)) return;
  Node shade = Add(canvas.svg, "rect", "", "shade");
  Set(shade, "x", At(begin));
  Set(shade, "y", At(kTop));
  Set(shade, "width", At(std::max(2.0, end - begin)));
  Set(shade, "height", At(kHeight - kTop - kBottom));
}

void AddMarks(const Canvas& canvas, std::span<const Mark> marks) {
  size_t drawn = 0;
  for (const Mark& mark : marks) {
    if (mark.rank != 0 || drawn == kMostMarksDrawn) continue;
    ++drawn;
    const double x = canvas.x(static_cast<double>(mark.step));
    AddLine(canvas.svg, x, kHeight - kBottom - 6, x, kHeight - kBottom, "mark");
  }
}

void AddLegend(Node figure, const Plot& plot) {
  if (plot.lines.size() < 2) return;
  Node list = Add(figure, "ul", "", "legend");
  for (size_t i = 0; i < plot.lines.size(); ++i) {
    Node item = Add(list, "li");
    Set(Add(item, "span", "", StrCat("key c", i)), "aria-hidden", "true");
    AddName(item, plot.lines[i].label);
  }
}

// At most kRowsOfTable rows: each stands for as many neighboring buckets.
void AddValues(Node figure, const Plot& plot) {
  Node details = Add(figure, "details");
  Add(details, "summary", "Values");
  for (const Line& line : plot.lines) {
    const std::vector<Bucket>& all = line.series->buckets;
    Node table = AddTable(details, StrCat(plot.title, ": ", Cut(line.label, kLongestName)),
                          {plot.axis == "step" ? "Steps" : plot.axis, "Least", "Greatest"});
    const size_t rows = std::min(kRowsOfTable, all.size());
    for (size_t i = 0; i < rows; ++i) {
      const size_t begin = i * all.size() / rows, end = (i + 1) * all.size() / rows;
      Range range;
      for (size_t k = begin; k < end; ++k) {
        range.Add(all[k].low);
        range.Add(all[k].high);
      }
      const int64_t first = all[begin].first_step, last = all[end - 1].last_step;
      AddRow(table, {first == last ? WithCommas(first)
                                   : StrCat(WithCommas(first), " to ", WithCommas(last)),
                     Short(range.low), Short(range.high)});
    }
  }
}

std::string Description(const Plot& plot) {
  std::string text;
  for (const Line& line : plot.lines) {
    const Series& series = *line.series;
    StrAppend(&text, text.empty() ? "" : " ", Cut(line.label, kLongestName), ": ",
              Short(series.first), " at first, ", Short(series.last), " at last, between ",
              Short(series.least), " and ", Short(series.most), ".");
  }
  return text;
}

void AddSvg(Node figure, const Plot& plot, const Range& steps, const Range& values) {
  Node drawing = Add(figure, "div", "", "drawing");
  Set(drawing, "tabindex", "0");
  Set(drawing, "role", "group");
  Set(drawing, "aria-label", plot.title);
  Node svg = Add(drawing, "svg");
  Set(svg, "viewBox", StrCat("0 0 ", kWidth, " ", kHeight));
  Set(svg, "role", "img");
  Set(svg, "aria-labelledby", StrCat(plot.id, "-title ", plot.id, "-text"));
  Set(Add(svg, "title", plot.title), "id", StrCat(plot.id, "-title"));
  Set(Add(svg, "desc", Description(plot)), "id", StrCat(plot.id, "-text"));
  const Canvas canvas{.svg = svg,
                      .x = Scale(steps.low, steps.high, kLeft, kWidth - kRight, false),
                      .y = Scale(values.low, values.high, kHeight - kBottom, kTop,
                                 !plot.from_zero && FarApart(values.low, values.high))};
  if (plot.shaded.has_value()) AddShade(canvas, *plot.shaded);
  AddAxes(canvas, plot.axis);
  AddMarks(canvas, plot.marks);
  for (size_t i = 0; i < plot.lines.size(); ++i) {
    (plot.lines[i].is_band ? AddBand : AddCurve)(canvas, *plot.lines[i].series, i);
  }
  if (!plot.level.has_value()) return;
  const double y = canvas.y(*plot.level);
  AddLine(svg, kLeft, y, kWidth - kRight, y, "bound");
  AddLabel(svg, kWidth - kRight, y - 4, Short(*plot.level), "tick end");
}

}  // namespace

bool FarApart(double least, double most) { return least > 0 && most / least > kTenfold; }

bool AddPlot(Node parent, const Plot& plot) {
  Range steps, values;
  for (const Line& line : plot.lines) {
    for (const Bucket& bucket : line.series->buckets) {
      steps.Add(static_cast<double>(bucket.first_step));
      steps.Add(static_cast<double>(bucket.last_step));
      values.Add(bucket.low);
      values.Add(bucket.high);
    }
    if (line.series->first_nonfinite >= 0) {
      steps.Add(static_cast<double>(line.series->first_nonfinite));
    }
  }
  if (values.low > values.high) return false;
  if (plot.level.has_value()) values.Add(*plot.level);
  if (plot.from_zero) values.Add(0);
  Node figure = Add(parent, "figure");
  Set(figure, "id", plot.id);
  Node caption = Add(figure, "figcaption");
  Add(caption, "strong", StrCat(plot.title, plot.caption.empty() ? "" : ". "));
  AddText(caption, plot.caption);
  AddSvg(figure, plot, steps, values);
  AddLegend(figure, plot);
  if (plot.zoomable) AddNumbers(figure, plot, !plot.from_zero && FarApart(values.low, values.high));
  AddValues(figure, plot);
  return true;
}

}  // namespace dlcheck::html

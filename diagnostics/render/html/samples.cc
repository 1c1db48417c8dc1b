#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/escaping.h"
#include "checks/engine/text.h"
#include "diagnostics/render/html/png.h"
#include "diagnostics/render/html/sections.h"

namespace dlcheck::html {
namespace {

constexpr size_t kMostKept = 60;      // tensors with a picture or a table each
constexpr size_t kShownNumbers = 12;  // of a row

std::string SizesOf(const std::vector<int64_t>& shape) {
  std::string text;
  for (const int64_t size : shape) StrAppend(&text, text.empty() ? "" : " × ", size);
  return text.empty() ? "one number" : text;
}

struct Extent {
  double low = INFINITY, high = -INFINITY;
};

Extent ExtentOf(const KeptRows& kept) {
  Extent extent;
  for (const auto& row : kept.rows) {
    for (const double value : row) {
      if (!std::isfinite(value)) continue;
      extent.low = std::min(extent.low, value);
      extent.high = std::max(extent.high, value);
    }
  }
  return extent;
}

// Values that are not finite are red, in gray pictures too.
std::string PictureOf(const KeptRows& kept, const std::vector<double>& row, const Extent& extent) {
  const auto channels = static_cast<size_t>(kept.size[0]);
  const auto places = static_cast<size_t>(kept.size[1] * kept.size[2]);
  const double range = extent.high > extent.low ? extent.high - extent.low : 1;
  std::string pixels;
  for (size_t place = 0; place < places; ++place) {
    char color[3] = {};
    bool is_finite = true;
    for (size_t channel = 0; channel < 3; ++channel) {
      const double value = row[std::min(channel, channels - 1) * places + place];
      is_finite = is_finite && std::isfinite(value);
      if (is_finite)
        color[channel] = static_cast<char>(std::lround(255 * (value - extent.low) / range));
    }
    pixels += is_finite ? std::string(color, 3) : std::string("\xff\0\0", 3);
  }
  return PngOf(static_cast<uint32_t>(kept.size[2]), static_cast<uint32_t>(kept.size[1]), 3, pixels);
}

void AddPictures(Node parent, const KeptRows& kept) {
  const Extent extent = ExtentOf(kept);
  Node list = Add(parent, "div", "", "pictures");
  for (size_t i = 0; i < kept.rows.size(); ++i) {
    Node image = Add(list, "img");
    Set(image, "src",
        StrCat("data:image/png;base64,",
               absl::Base64Escape(PictureOf(kept, kept.rows[i], extent))));
    Set(image, "alt", StrCat(kept.role, " of sample ", i + 1));
  }
  if (extent.low > extent.high) return;
  Add(parent, "p", StrCat("black ", Short(extent.low), ", white ", Short(extent.high)), "soft");
}

std::string Shown(const std::vector<double>& row) {
  std::string text;
  for (size_t i = 0; i < std::min(row.size(), kShownNumbers); ++i) {
    StrAppend(&text, text.empty() ? "" : ", ", Short(row[i]));
  }
  return row.size() > kShownNumbers ? StrCat(text, ", …") : text;
}

std::string CaptionOf(const KeptRows& kept) {
  return StrCat(kept.role, " of ", Cut(kept.model, kLongestName), ": ", kept.dtype, ", ",
                SizesOf(kept.shape));
}

void AddRows(Node parent, const KeptRows& kept) {
  Node table = AddTable(parent, CaptionOf(kept), {"Sample", "Values"});
  for (size_t i = 0; i < kept.rows.size(); ++i) {
    AddRow(table,
           {std::to_string(i + 1), kept.texts.empty() ? Shown(kept.rows[i]) : kept.texts[i]});
  }
}

void AddKept(Node parent, const KeptRows& kept) {
  if (!kept.is_picture) return AddRows(parent, kept);
  Node figure = Add(parent, "figure");
  Add(figure, "figcaption", CaptionOf(kept));
  AddPictures(figure, kept);
}

// The largest of several numbers by its place, as classes are predicted; else the number.
std::string PredictionOf(const std::vector<double>& row) {
  if (row.size() == 1) return Short(row[0]);
  const auto largest = std::ranges::max_element(row);
  return StrCat(largest - row.begin(), " (", Short(*largest), ")");
}

// A row for each sample, a column for each step.
void AddPredictions(Node parent, const std::vector<const KeptRows*>& outputs) {
  std::vector<std::string> headings = {"Sample"};
  for (const KeptRows* output : outputs) headings.push_back(StrCat("step ", output->step));
  Node table = AddTable(parent,
                        StrCat("Predictions of ", outputs.front()->model,
                               " for one batch: the largest output by its place"),
                        headings);
  for (size_t i = 0; i < outputs.front()->rows.size(); ++i) {
    std::vector<std::string> cells = {std::to_string(i + 1)};
    for (const KeptRows* output : outputs) {
      cells.push_back(i < output->rows.size() ? PredictionOf(output->rows[i]) : "");
    }
    AddRow(table, cells);
  }
}

}  // namespace

void AddSamples(Node main, const Page& page) {
  if (page.frame.samples.empty()) return;
  Node section = AddSection(main, "samples", "Samples of the data");
  Add(section, "p",
      "This section holds data of the training program, because --samples asked for it. Check it "
      "before you share this page.",
      "fix");
  std::map<std::string, std::vector<const KeptRows*>> predictions;  // by model
  std::string moment;
  size_t shown = 0;
  for (const KeptRows& kept : page.frame.samples) {
    if (kept.moment == kPredictions && kept.role == "output" && !kept.is_picture) {
      predictions[kept.model].push_back(&kept);
      continue;
    }
    if (++shown > kMostKept) continue;
    const std::string heading = StrCat(kept.moment, ", step ", kept.step);
    if (heading != moment) Add(section, "h3", heading);
    moment = heading;
    AddKept(section, kept);
  }
  if (shown > kMostKept) {
    Add(section, "p", StrCat(shown - kMostKept, " more tensors are in the folder runs."));
  }
  for (const auto& [model, outputs] : predictions) AddPredictions(section, outputs);
}

}  // namespace dlcheck::html

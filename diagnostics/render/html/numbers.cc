#include "diagnostics/render/html/numbers.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "checks/engine/text.h"
#include "diagnostics/render/html/style.h"

namespace dlcheck::html {
namespace {

// Four digits, as a curve of a few hundred pixels shows at most.
double Rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10, 3 - std::floor(std::log10(std::abs(value))));
  const double rounded = std::round(value * scale) / scale;
  return std::isfinite(rounded) ? rounded : value;
}

nlohmann::json NumbersOf(const Line& line) {
  const std::vector<Bucket>& all = line.series->buckets;
  const size_t count = std::min(kMostNumbers, all.size());
  std::vector<int64_t> steps;
  std::vector<double> low, high;
  for (size_t i = 0; i < count; ++i) {
    const size_t begin = i * all.size() / count, end = (i + 1) * all.size() / count;
    double least = all[begin].low, most = all[begin].high;
    for (size_t k = begin; k < end; ++k) {
      least = std::min(least, all[k].low);
      most = std::max(most, all[k].high);
    }
    steps.push_back(all[begin].first_step);
    low.push_back(Rounded(least));
    high.push_back(Rounded(most));
  }
  nlohmann::json numbers = {
      {"label", Cut(line.label, kLongestName)}, {"steps", steps}, {"low", low}};
  if (low != high) numbers["high"] = high;
  return numbers;
}

// Letters that end a script or begin an entity are written as JSON can write them.
std::string AsScript(const nlohmann::json& json) {
  std::string text;
  for (const char c : json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)) {
    const bool is_markup = c == '<' || c == '>' || c == '&';
    text += is_markup ? StrCat("\\u00", c == '<'   ? "3c"
                                        : c == '>' ? "3e"
                                                   : "26")
                      : std::string(1, c);
  }
  return text;
}

}  // namespace

void AddNumbers(Node figure, const Plot& plot, bool is_logarithmic) {
  if (kScript[0] == '\0') return;
  std::vector<int64_t> marks, nonfinite;
  for (const Mark& mark : plot.marks) {
    if (mark.rank == 0 && marks.size() < kMostMarksDrawn) marks.push_back(mark.step);
  }
  nlohmann::json json = {{"logarithmic", is_logarithmic}, {"zero", plot.from_zero}};
  for (const Line& line : plot.lines) {
    json["lines"].push_back(NumbersOf(line));
    if (line.series->first_nonfinite >= 0) nonfinite.push_back(line.series->first_nonfinite);
  }
  json["marks"] = marks;
  json["nonfinite"] = nonfinite;
  Set(figure, "class", "zoomable");
  Node script = Add(figure, "script", "", "dlcheck");
  Set(script, "type", "application/json");
  // ASCII without markup, of any length: not a text for readers.
  script.append_child(pugi::node_pcdata).set_value(AsScript(json).c_str());
}

}  // namespace dlcheck::html
